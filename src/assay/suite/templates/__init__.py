"""Templates of suites: Nunjucks' language over plain data, bounded in time, memory and reach.

Jinja reads the template; a walker of our own evaluates its syntax tree with JavaScript's ideas of
text, truth and equality. Differences from Nunjucks, each on purpose:

* arithmetic without a finite result is an error, not NaN; null and undefined join texts as "";
* a loop over a number, or with one name over a mapping, is an error, not nothing;
* methods never change a list in place; positions count characters, not UTF-16 units;
* macros, include, import, extends, switch, verbatim, random and regular expressions are left out;
* slices such as xs[1:3], map, load and missing parts of filters' input are understood;
* \\r\\n in a template with tags becomes \\n; {{ env }} as a whole is out of reach.
"""

from assay.suite.templates.engine import Templates
from assay.suite.templates.limits import Limits, TemplateError

__all__ = ["Limits", "TemplateError", "Templates"]
