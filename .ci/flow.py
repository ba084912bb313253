"""The same shape of flow in Haystack and in LangGraph: a retriever in memory over six short
documents, a prompt, and two models that answer at once. Prints the median of a question in
milliseconds, for comparison with `go test -run xxx -bench Overhead ./pipeline`.

    python3 -m venv .cache/python/flow
    .cache/python/flow/bin/pip install haystack-ai langgraph
    .cache/python/flow/bin/python .ci/flow.py
"""
import os
import statistics
import time
from typing import TypedDict

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

BOOK = ["Tea ran over the table in the reading room.", "Rain came in through the open window.", "A dog chewed the cover.",
        "Pages were torn out by hand.", "The spine broke when the book fell from the lift.", "Mould was found on the map of Norway. The cellar was damp."]
QUESTION = "Why did mould appear on the map of Norway?"
ANSWER = '{"findings":[{"statement":"Mould was found on the map of Norway.","quotes":[{"evidence":1,"text":"Mould was found on the map of Norway."}]}]}'


def median(run, rounds=400):
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


def haystack_flow():
    from haystack import Document, Pipeline, component
    from haystack.components.builders import PromptBuilder
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    @component
    class Said:
        def __init__(self, text):
            self.text = text

        @component.output_types(reply=str)
        def run(self, prompt: str):
            return {"reply": self.text}

    store = InMemoryDocumentStore()
    store.write_documents([Document(content=text) for text in BOOK])
    p = Pipeline()
    p.add_component("understand_prompt", PromptBuilder("Understand: {{question}}"))
    p.add_component("understand", Said(QUESTION))
    p.add_component("retrieve", InMemoryBM25Retriever(store, top_k=3))
    p.add_component("prompt", PromptBuilder("{% for d in documents %}{{d.content}}\n{% endfor %}Question: {{question}}"))
    p.add_component("generate", Said(ANSWER))
    p.connect("understand_prompt.prompt", "understand.prompt")
    p.connect("understand.reply", "retrieve.query")
    p.connect("retrieve.documents", "prompt.documents")
    p.connect("prompt.prompt", "generate.prompt")
    return lambda: p.run({"understand_prompt": {"question": QUESTION}, "prompt": {"question": QUESTION}})


def langgraph_flow():
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict, total=False):
        question: str
        query: str
        documents: list
        reply: str

    def retrieve(state):
        words = set(state["query"].lower().split())
        return {"documents": sorted(BOOK, key=lambda text: -len(words & set(text.lower().split())))[:3]}

    g = StateGraph(State)
    g.add_node("understand", lambda state: {"query": state["question"]})
    g.add_node("retrieve", retrieve)
    g.add_node("generate", lambda state: {"reply": ANSWER if "\n".join(state["documents"]) else ""})
    g.add_edge(START, "understand")
    g.add_edge("understand", "retrieve")
    g.add_edge("retrieve", "generate")
    g.add_edge("generate", END)
    flow = g.compile()
    return lambda: flow.invoke({"question": QUESTION})


for name, make in (("haystack", haystack_flow), ("langgraph", langgraph_flow)):
    run = make()
    run()
    print(f"{name:10} p50 {median(run):.3f} ms a question, without constraints, check and traces")
