"""Compares taking documents in with the usual Python pipeline on the same weights.

    python embed/local/parity/pipeline.py MODEL_FOLDER NARRATIVES SEXTANT [--narratives 2000]

MODEL_FOLDER as for parity.py; NARRATIVES is a file of NTSB narratives (JSON lines, gzipped
or not); SEXTANT the binary. Both sides are whole processes, from the file to vectors that
are stored, and run one after the other. Python cuts narratives into pieces of 200 words,
tokenizes with the tokenizers library, sorts by length, pads in batches of 32, runs ONNX
Runtime on all cores in 32 bits, and saves an array. Sextant does all that it does:
documents, words and columns as well, written durably. Processor time is what to go by on a
machine that others use too.
"""

import argparse
import gzip
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

BATCH, WORDS = 32, 200


def narratives(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if str(path).endswith(".gz") else open(path, encoding="utf-8")
    with opened as f:
        yield from f


def python_side(graph, folder, texts, out):
    import numpy as np
    import onnxruntime as ort
    import reference

    pieces = []
    for line in narratives(texts):
        words = json.loads(line)["narrative"].split()
        pieces += [" ".join(words[i : i + WORDS]) for i in range(0, len(words), WORDS)]
    ids = [e.ids for e in reference.tokenizer(pathlib.Path(folder)).encode_batch(pieces)]
    session = ort.InferenceSession(graph, providers=["CPUExecutionProvider"])
    vectors = np.zeros((len(ids), 384), np.float32)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        width = max(len(ids[i]) for i in batch)
        padded, mask = np.zeros((len(batch), width), np.int64), np.zeros((len(batch), width), np.int32)
        for row, i in enumerate(batch):
            padded[row, : len(ids[i])], mask[row, : len(ids[i])] = ids[i], 1
        vectors[batch] = session.run(None, {"ids": padded, "mask": mask})[0]
    np.save(out, vectors)
    print(len(ids), "pieces")


def measured(*command, **environment):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("texts", type=pathlib.Path)
    parser.add_argument("sextant")
    parser.add_argument("--narratives", type=int, default=2000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as dir:
        import reference

        graph, some = os.path.join(dir, "batched.onnx"), os.path.join(dir, "some.jsonl")
        reference.build(args.model, graph, batched=True)
        with open(some, "w", encoding="utf-8") as f:
            for line, _ in zip(narratives(args.texts), range(args.narratives)):
                row = json.loads(line)
                row.pop("probable_cause", None)
                f.write(json.dumps(row) + "\n")
        ours = measured(args.sextant, "ingest", "ntsb", some, SEXTANT_DATA=os.path.join(dir, "data"), EMBEDDER="local")
        theirs = measured(sys.executable, __file__, "--python", graph, str(args.model), some, os.path.join(dir, "vectors.npy"))
    print(f"sextant  {ours[0]:7.1f} s by the clock, {ours[1]:7.1f} s of processor time")
    print(f"python   {theirs[0]:7.1f} s by the clock, {theirs[1]:7.1f} s of processor time")
    print(f"sextant is {theirs[0] / ours[0]:.2f} times as fast by the clock, {theirs[1] / ours[1]:.2f} times by processor time")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--python"]:
        python_side(*sys.argv[2:])
    else:
        main()
