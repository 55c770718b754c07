"""Studies in the background."""

from .job import Job, State, Status, find_job, job_of, jobs, resume_interrupted, start

__all__ = ["Job", "State", "Status", "find_job", "job_of", "jobs", "resume_interrupted", "start"]
