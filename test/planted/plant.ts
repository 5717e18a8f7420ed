import { parseAst } from 'rolldown/parseAst'

/** A fault put into one exported function, and the proof that must go red with it. */
export type PlantedFault = {
  name: string
  /** From the root of the repository. */
  file: string
  /** The exported function, or a function beside it in the file. */
  fn: string
  /** Source of the one node of that function that is replaced; white space does not count. */
  find: string
  replace: string
  proof: { file: string; test: string }
  /** For faults of the till: the bound of the model that finds it too, or why the model cannot. */
  model?: { bound: string } | { outside: string }
}

/** The code moved on: the fault must be written again, or the proof would prove nothing. */
export class FaultNotApplicable extends Error {
  override readonly name = 'FaultNotApplicable'
}

type Node = { type: string; start: number; end: number }

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

function* nodesIn(node: Node): Generator<Node> {
  yield node
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* nodesIn(child)
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** The source with the fault in it. Throws unless exactly one node of the function is what the fault names. */
export function plantFault(source: string, fault: PlantedFault): string {
  const tree = parseAst(source, { lang: 'ts' }, fault.file) as unknown as Node
  const owner = functionNamed(tree, fault.fn)
  if (!owner) throw new FaultNotApplicable(`${fault.file} has no function ${fault.fn}`)
  const wanted = plain(fault.find)
  const found = [...nodesIn(owner)].filter(({ start, end }) => plain(source.slice(start, end)) === wanted)
  // An expression and the statement or argument around it may have the same text.
  const places = new Map(found.map((node) => [`${node.start}-${node.end}`, node]))
  const [node] = places.values()
  if (!node || places.size > 1)
    throw new FaultNotApplicable(`${fault.fn} in ${fault.file} has ${places.size} nodes "${wanted}", not one`)
  return source.slice(0, node.start) + fault.replace + source.slice(node.end)
}

type Named = Node & { id?: { name?: string } | null; key?: { name?: string }; init?: Node | null; value?: Node }

/** A declared function, or a function held by a constant or a property of that name. */
function functionNamed(tree: Node, name: string): Node | undefined {
  for (const node of nodesIn(tree) as Generator<Named>) {
    if (node.type === 'FunctionDeclaration' && node.id?.name === name) return node
    if (node.type === 'VariableDeclarator' && node.id?.name === name) return node
    if (node.type === 'Property' && node.key?.name === name) return node
  }
  return undefined
}
