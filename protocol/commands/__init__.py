"""The commands, one module a family; importing this package fills the table.

`list_commands` shows the families in the order of these imports; `core` begins with
`protocol_version`, by which LizzieYzy recognises the list (FRONT_ENDS.md section 4).
"""

from protocol.commands import (  # noqa: F401, I001
    core,
    play,
    time,
    analysis,
    params,
    gogui,
    gogui_draw,
    record,
    tanbo,
    explain,
)
from protocol.commands.table import TABLE

__all__ = ["TABLE"]
