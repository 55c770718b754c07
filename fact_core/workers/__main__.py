"""`python -m fact_core.workers`: one worker, started by :class:`fact_core.workers.Crew`."""

from .worker import main

if __name__ == "__main__":
    main()
