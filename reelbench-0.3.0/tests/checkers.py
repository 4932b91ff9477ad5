"""What other people's checkers find on a page: axe-core and html-validate, which `tools/setup_checkers.py` installs."""

import json
import subprocess
from pathlib import Path


def violations(page, checkers):
    """What axe finds; it may not fetch the style sheets again, which the page's policy forbids."""
    page.evaluate((checkers / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(
        "axe.run({ preload: false, resultTypes: ['violations'] }).then((all) => all.violations)"
    )
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]


def invalid(pages, checkers, tmp_path):
    """What html-validate finds: (page, rule, message)."""
    config = tmp_path / "htmlvalidate.json"
    config.write_text(
        json.dumps({"root": True, "extends": ["html-validate:standard", "html-validate:a11y"]})
    )
    tool = Path(checkers / "html-validate" / "bin" / "html-validate.mjs")
    report = tmp_path / "report.json"  # a file: node cuts a long text off in a pipe
    with report.open("w") as out:
        command = ["node", tool, "--config", config, "--formatter", "json", *pages]
        subprocess.run(command, stdout=out, check=False)
    return {
        (Path(result["filePath"]).name, message["ruleId"], message["message"])
        for result in json.loads(report.read_text())
        for message in result["messages"]
    }
