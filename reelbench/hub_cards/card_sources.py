"""The sections of a card on where the data is from, and under which licences."""

from reelbench.data.redistribution import why_withheld
from reelbench.hub_cards.card_material import Material, SplitMaterial
from reelbench.pages.markdown import cell, inert, table
from reelbench.registry.spec import (
    BenchmarkSpec,
    FileNextToDeclaration,
    HubFile,
    LocalFile,
    MediaSource,
)
from reelbench.registry.splits import expected_files


def provenance(material: Material) -> dict[str, object]:
    """Return the sources of the annotations, as declared and as read, and of the videos."""
    split_lines = [_split_line(split) for split in material.splits]
    media_lines = [_media_line(media) for media in material.spec.media]
    converted: str | None = None
    if material.data_splits:
        converted = (
            "The rows are the owners', converted by Reelbench to the schema above and otherwise "
            "unchanged."
        )
    heads = ["Split", "Owners' source", "Files", "Revision", "Fingerprint"]
    return {
        "sources": table(heads, split_lines),
        "converted": converted,
        "videos": table(["Videos", "From", "For", "Note"], media_lines),
    }


def _split_line(split: SplitMaterial) -> list[str]:
    """Return a split's line of the table: name, source, files, revision and fingerprint."""
    source = split.declared.source
    names = expected_files(source, published=True)
    files = " or ".join(f"`{name}`" for name in names)
    revision = "not pinned"
    if isinstance(source, HubFile):
        where = f"[{source.repo_id}](https://huggingface.co/datasets/{source.repo_id})"
        revision = "the newest at the first download, then fixed"
        if source.revision:
            revision = f"`{source.revision}`"
    elif isinstance(source, FileNextToDeclaration):
        where = "its authors' own file"
        revision = "as it stands next to the benchmark's file"
    elif isinstance(source, LocalFile):
        where = f"on request: [form]({source.form_url})"
        revision = "as the owners sent it"
    else:
        where = f"<{source.url}>"
        if source.sha256:
            revision = f"SHA-256 `{source.sha256}`"
    fingerprint = "not read for this card"
    counted = split.counted
    if counted:
        files = ", ".join(f"`{name}`" for name in counted.files) or files
        if counted.source.kind == "local":
            revision = "a local copy"
        elif counted.source.revision:
            revision = f"`{counted.source.revision}`"
        fingerprint = f"`{counted.source.fingerprint[:16]}`"
    return [f"`{split.name}`", where, files, revision, fingerprint]


def _media_line(media: MediaSource) -> list[str]:
    location = media.location
    if media.kind == "hub":
        location = f"[{location}](https://huggingface.co/datasets/{location})"
        if media.gated:
            location += ", gated"
    elif "{video}" in location:
        location = f"`{location}`"
    elif location:
        location = f"<{location}>"
    splits = ", ".join(f"`{split}`" for split in media.splits)
    return [media.title, location or "not stated", splits or "all", media.note]


def licences(spec: BenchmarkSpec) -> dict[str, object]:
    """Return the licences of annotations and videos."""
    licence = cell(spec.license.replace("`", ""))
    reason = why_withheld(spec)
    if reason:
        passing_on = f"{reason} No rows are published here."
    else:
        withheld_splits = [f"`{name}`" for name in spec.splits if why_withheld(spec, name)]
        exception = ""
        if withheld_splits:
            names = ", ".join(withheld_splits)
            exception = f", except those of {names}, whose answers are hidden"
        passing_on = f"They may be passed on under it{exception}."
    terms = [f"{media.title}: {_terms_of_videos(spec, media)}" for media in spec.media]
    return {
        "licence": f"`{licence}`" if licence else "no licence is stated",
        "licence_note": f" {inert(spec.license_note)}" if spec.license_note else "",
        "passing_on": passing_on,
        "terms": "; ".join(dict.fromkeys(terms)),
    }


def _terms_of_videos(spec: BenchmarkSpec, media: MediaSource) -> str:
    """Return the terms under which videos may be used."""
    if media.kind == "youtube":
        return "YouTube's terms of service"
    if media.kind == "form":
        if spec.package:
            return "the agreement that the owners ask for"
        return "their makers' own terms"  # nothing was agreed with a file's author
    if media.gated:
        return "the terms of its gated repository"
    return "the terms stated there"
