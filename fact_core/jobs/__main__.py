"""`python -m fact_core.jobs FOLDER [PARENT]`: the process of a job, started by :meth:`fact_core.jobs.Job.resume`."""

import sys

from .supervisor import main

if __name__ == "__main__":
    main(*sys.argv[1:])
