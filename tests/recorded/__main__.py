"""Record the results of the fits of this folder, or see how much of them hangs on rounding.

``python -m tests.recorded`` compares what is in objectives.json with this tree, fit by fit; ``--write`` puts this tree's results
there; ``--shake`` runs each fit three times with its data and its start changed in their last digits, and prints by how much of
itself the objective changes at most. Run it from the root of the repository.
"""

import sys
from time import process_time

from .fits import FITS, run
from .record import difference, read, write

SHAKES = {"float64": 1e-15, "float32": 1e-7}
TIMES = 3


def main(arguments: list[str]) -> int:
    if unknown := set(arguments) - {"--write", "--shake"}:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; there are --write and --shake")
    outcomes, recorded, total, worse = {}, read(), process_time(), 0
    for fit in FITS:
        started = process_time()
        outcomes[fit.name] = outcome = run(fit)
        words = [
            f"{process_time() - started:6.2f} s",
            fit.name,
            f"{outcome.objective:.10g}",
            str(outcome.n_iter),
            str(outcome.status),
        ]
        if "--shake" in arguments:
            shaken = [run(fit, SHAKES[fit.dtype], seed).objective for seed in range(TIMES)]
            change = max(abs(objective / outcome.objective - 1) for objective in shaken)
            words.append(f"changed by {change:.1e}" + (" MORE THAN ITS TOLERANCE" if change > fit.tolerance else ""))
        elif "--write" not in arguments and fit.name in recorded:
            found = difference(fit, outcome, recorded[fit.name])
            worse += found is not None
            words.append(found or "as recorded, or better")
        print(" | ".join(words), flush=True)
    if "--write" in arguments:
        write(outcomes)
    print(f"{len(FITS)} fits, {process_time() - total:.1f} s of processor time" + (f", {worse} worse" if worse else ""))
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
