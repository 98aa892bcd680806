#!/bin/sh
# Detects seizures in one EDF file and writes a table of them, by the convention of SzCORE:
# $INPUT is a file below /data, $OUTPUT one below /output. Arguments are options of `bdl detect`.
set -eu
: "${INPUT:?the EDF file below /data expected}"
: "${OUTPUT:?the TSV file below /output expected}"
source="${DATA_FOLDER:-/data}/$INPUT"
target="${OUTPUT_FOLDER:-/output}/$OUTPUT"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bdl detect "${MODEL:-/model.onnx}" "$source" --out "$work/events.tsv" --to seizures --quiet "$@"

# SzCORE makes the file beforehand, in a folder where we may not: only its content can be replaced.
mkdir -p "$(dirname "$target")"
cat "$work/events.tsv" >"$target"
