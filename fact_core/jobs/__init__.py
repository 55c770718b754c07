"""Studies in the background."""

from .job import Job, State, Status, find_job, jobs, resume_interrupted, start

__all__ = ["Job", "State", "Status", "find_job", "jobs", "resume_interrupted", "start"]
