"""Measures and plots of a finished motion.

from elbowroom.report import report, write_report

write_report("report.html", report(world))
"""

from elbowroom.report.measure import PersonMeasures, Report, report
from elbowroom.report.page import page, write_report
from elbowroom.report.published import published_of

__all__ = ["PersonMeasures", "Report", "page", "published_of", "report", "write_report"]
