// The shapes of /v1 that the page reads; /openapi.json has them whole.

export type Status =
  | 'answered'
  | 'partial'
  | 'no_data'
  | 'insufficient_evidence'
  | 'out_of_scope'
  | 'needs_clarification'
  | 'budget_exhausted'
  | 'source_unavailable'

export type Op = 'eq' | 'in' | 'not_in' | 'gte' | 'lte' | 'between' | 'contains' | 'not_contains' | 'exists' | 'mentions' | 'not_mentions'

export type Scalar = string | number | boolean | null

export interface Constraint {
  field: string
  op: Op
  values: (Scalar | [string, string])[]
  text: string
  expr?: string
  origin: 'rule' | 'model' | 'user'
  implied?: boolean
  assumed?: string
  collections: string[]
  alone: number
  unknown: number
  unknown_within: number
  recorded?: { from: string; to: string; recorded: number; of: number }[]
}

export interface Reading {
  field?: string
  op?: Op
  values?: (Scalar | [string, string])[]
  note?: string
  count?: number
}

export interface Coverage {
  collection: string
  field: string
  from: string
  to: string
}

export interface Ledger {
  constraints: Constraint[]
  filter?: string
  joint: number
  joint_by_collection: Record<string, number>
  relaxations?: { drop: string[]; drop_at: number[]; count: number }[]
  widenings?: { field: string; at: number; op: Op; values: (Scalar | [string, string])[]; count: number }[]
  available?: { field: string; values: Scalar[][] }[]
  coverage?: Coverage[]
  outside_coverage?: string[]
  unenforceable?: { text: string; field?: string; reason: string }[]
  unknown_values?: { text: string; field?: string; nearest: string[] }[]
  ambiguous?: { text: string; readings: Reading[] }[]
}

export interface Quote {
  document_id: string
  collection: string
  title: string
  locator?: string
  start: number
  end: number
  text: string
}

export interface Finding {
  text: string
  quotes: Quote[]
  source: string
  confidence: string
}

export interface Method {
  unit: string
  scope: string
  period: string
  coverage?: string
  unknown?: string[]
  open_cases?: number
  data_date?: string
  files?: string[]
  counted_as?: Scalar[][]
  other_counts?: { rule: string; count: number; why: string }[]
  at_least: boolean
  notes?: string[]
}

export interface Computed {
  kind: 'count' | 'list' | 'group' | 'compare' | 'top' | 'share' | 'first' | 'last' | 'sum' | 'mean' | 'distinct' | 'max' | 'min'
  title: string
  collection: string
  unit: string
  unit_label: string
  total: number
  mention_of?: number // a count of mentions: of how many that satisfy the conditions
  unknown: number
  group_by?: string
  columns?: string[]
  rows?: Scalar[][]
  part_count?: number
  percent?: string
  percent_low?: string
  percent_high?: string
  sum?: number
  sum_of?: string
  value?: string
  value_of?: string
  distinct?: number
  partial?: string[]
  breaks?: { key: string; field: string; why: string }[]
  share_of?: string
  snippets?: Quote[]
  date?: string
  ids: string[]
  next?: string
  filter: string
  method: Method
}

export interface Passage {
  chunk_id: string
  document_id: string
  source: string
  content: string
  title: string
  locator?: string
  start: number
  end: number
  score: number
}

export interface Answer {
  question: string
  status: Status
  summary: string
  findings: Finding[]
  regulatory?: { regulation: string; relevance: string; compliance_status?: string; version?: string; amended?: string; in_force?: string; note?: string; quotes: Quote[] }[]
  causal_chain?: Finding[]
  computed?: Computed[]
  conflicts?: { subject: string; sides: Finding[] }[]
  caveats?: string[]
  ledger: Ledger
  intent: string
  strategy: string
  confidence: string
  missing?: { name: string }[]
  degraded?: { stage: string; reason: string }[]
  not_held?: { collection: string; reason: string; command: string }[]
  suggestions?: string[]
  evidence: Passage[]
  removed?: { text: string; reason: string }[]
  as_of: string
  usage: { model_calls: number; input_tokens: number; output_tokens: number; duration_ms: number }
  trace_id: string
}

export interface CollectionInfo {
  name: string
  title: string
  role: string
  unit: string
  documents: number
  coverage?: Coverage
  fill: string
  files?: string[]
  data_date?: string
}

export interface FieldInfo {
  name: string
  label?: string
  description?: string
  kind: 'keyword' | 'int' | 'float' | 'bool' | 'time'
  group?: string
  known: number
  unknown: number
}

export interface Description extends CollectionInfo {
  fields: FieldInfo[]
  groups?: { name: string; label: string; count: number }[]
  examples: string[]
}

export type MetaValue = Scalar | Scalar[] | Record<string, Scalar | Scalar[]>[]

export interface Document {
  id: string
  collection: string
  source: { name: string; kind?: string; uri?: string; retrieved_at?: string }
  title: string
  text: string
  parts?: { kind: string; locator?: string; start: number; end: number }[]
  metadata: Record<string, MetaValue>
  valid?: { from?: string; to?: string }
}

export interface Problem {
  title: string
  status: number
  detail: string
  code: string
  hint?: string
}

export type ServerEvent =
  | { name: 'stage_started'; data: { stage: string } }
  | { name: 'stage_done'; data: { stage: string; duration_ms: number; note?: string } }
  | { name: 'ledger'; data: { ledger: Ledger } }
  | { name: 'passages'; data: { passages: Passage[] } }
  | { name: 'delta'; data: { finding: Finding } }
  | { name: 'final'; data: { answer: Answer } }
  | { name: 'error'; data: Problem }

/** A trace: GET /v1/traces/{id}. */
export interface Trace {
  trace_id: string
  duration_ms: number
  spans: Span[]
}

/** One step, parents before their children. */
export interface Span {
  span_id: string
  name: string
  kind: string
  depth: number
  offset_ms: number
  duration_ms: number
  status: string
  error?: string
  error_type?: string
  inputs?: unknown
  outputs?: unknown
}
