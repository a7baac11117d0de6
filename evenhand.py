"""What a service imports: ``evenhand.Monitor(url, token).send(frame)``."""

from audits.monitor.client import Monitor

__all__ = ["Monitor"]
