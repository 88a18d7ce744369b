"""The pages of ``make reproduce``: the experiments of the papers, one module a page."""
