"""A card on where the dataset is from, and under which licences."""

from reelbench.hub_cards.material import Material
from reelbench.pages.markdown import table
from reelbench.registry.data.passing_on import why_withheld
from reelbench.registry.data.sources import published_files
from reelbench.registry.spec import FileBeside, HubFile, LocalFile, MediaSource, SplitSpec


def provenance(material: Material) -> str:
    """Sources of the annotations, as declared and as read, and of the videos."""
    lines = []
    for split in material.splits:
        where, files, revision = _declared_source(split.declared)
        counted = split.counted
        if counted:
            files = ", ".join(f"`{name}`" for name in counted.files) or files
            revision = f"`{counted.source.revision}`" if counted.source.revision else revision
            if counted.source.kind == "local":
                revision = "a local copy"
        read = f"`{counted.source.fingerprint[:16]}`" if counted else "not read for this card"
        lines.append([f"`{split.name}`", where, files, revision, read])
    text = table(["Split", "Owners' source", "Files", "Revision", "Fingerprint"], lines)
    converted = (
        "\n\nThe rows are the owners', converted by Reelbench to the schema above and otherwise unchanged."
        if material.data_splits
        else ""
    )
    videos = table(
        ["Videos", "From", "For", "Note"],
        [
            [
                media.title,
                _media_location(media),
                ", ".join(f"`{split}`" for split in media.splits) or "all",
                media.note,
            ]
            for media in material.spec.media
        ],
    )
    return (
        f"{text}\n\nA fingerprint is the start of the SHA-256 of the files and the version of the reader; a result "
        f"carries the same one.{converted}\n\n{videos}"
    )


def _declared_source(split: SplitSpec) -> tuple[str, str, str]:
    source = split.source
    files = " or ".join(f"`{name}`" for name in published_files(source))
    if isinstance(source, HubFile):
        revision = f"`{source.revision}`" if source.revision else "the newest when first fetched, then kept"
        return f"[{source.repo_id}](https://huggingface.co/datasets/{source.repo_id})", files, revision
    if isinstance(source, FileBeside):
        return "its authors' own file", files, "as it lies beside the benchmark's file"
    if isinstance(source, LocalFile):
        return f"on request: [form]({source.form_url})", files, "as the owners sent it"
    return f"<{source.url}>", files, f"SHA-256 `{source.sha256}`" if source.sha256 else "not pinned"


def _media_location(media: MediaSource) -> str:
    if media.kind == "hub":
        gate = ", gated" if media.gated else ""
        return f"[{media.location}](https://huggingface.co/datasets/{media.location}){gate}"
    if not media.location:
        return "not stated"
    return f"`{media.location}`" if "{video}" in media.location else f"<{media.location}>"


def licences(material: Material) -> str:
    """Licences of annotations, videos and card."""
    spec = material.spec
    note = f" {spec.license_note}" if spec.license_note else ""
    forbidden = why_withheld(spec)
    rows_told = f"{forbidden} No rows are published here." if forbidden else "They may be passed on under it."
    terms = "; ".join(dict.fromkeys(f"{media.title}: {_terms(media)}" for media in spec.media))
    return (
        f"- **Annotations**: {f'`{spec.license}`' if spec.license else 'no licence is stated'}.{note} {rows_told}\n"
        f"- **Videos**: we don't redistribute videos. Their rights stay with their makers, and the terms of the place "
        f"that each is had from hold ({terms}).\n"
        "- **This card**: made from Reelbench, Apache-2.0."
    )


def _terms(media: MediaSource) -> str:
    if media.kind == "youtube":
        return "YouTube's terms of service"
    if media.kind == "form":
        return "the agreement that is made on request"
    return "the terms of its gated repository" if media.gated else "the terms stated there"
