"""Every published rule, derived by the engine and compared with its paper, as text and as numbers."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.transcription")
