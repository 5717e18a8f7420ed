import { fromRlp, keccak256 } from 'viem/utils'

type Hex = `0x${string}`
type Node = Hex | readonly Node[]

/** The value a proof shows, null where it shows that there is none, undefined where it shows nothing. */
export type Proven = Hex | null | undefined

const nibblesOf = (bytes: Hex) => [...bytes.slice(2)].map((digit) => Number.parseInt(digit, 16))

/** Walks a Merkle-Patricia proof from a root to a key; every node must have the hash its parent names. */
export function proveTrieValue(root: Hex, key: Hex, proof: readonly Hex[]): Proven {
  let path = nibblesOf(keccak256(key))
  let expected: Node = root
  let used = 0
  for (;;) {
    // A node shorter than a hash is embedded in its parent.
    let node: Node | undefined = typeof expected === 'string' ? undefined : expected
    if (node === undefined) {
      const bytes = proof[used]
      // The empty trie has no nodes to show.
      if (bytes === undefined) return used === 0 && root === emptyRoot ? null : undefined
      if (keccak256(bytes) !== expected) return undefined
      used += 1
      node = decode(bytes)
    }
    const step = take(node, path)
    if (step === undefined || step.done) return step?.value
    expected = step.next
    path = step.rest
  }
}

const emptyRoot = keccak256('0x80')

function decode(bytes: Hex): Node | undefined {
  try {
    return fromRlp(bytes, 'hex') as Node
  } catch {
    return undefined
  }
}

type Step = { done: true; value: Proven } | { done: false; next: Node; rest: number[] }

function take(node: Node | undefined, path: number[]): Step | undefined {
  if (node === undefined || typeof node === 'string') return undefined
  if (node.length === 17) return takeBranch(node, path)
  const [packed, next] = node
  if (node.length !== 2 || typeof packed !== 'string' || next === undefined) return undefined
  const [flag = 0, ...rest] = nibblesOf(packed)
  const own = flag % 2 === 1 ? rest : rest.slice(1)
  const leaf = flag >= 2
  if (own.some((nibble, i) => nibble !== path[i])) return { done: true, value: null }
  if (!leaf) return { done: false, next, rest: path.slice(own.length) }
  if (own.length !== path.length) return { done: true, value: null }
  return typeof next === 'string' ? { done: true, value: next } : undefined
}

function takeBranch(node: readonly Node[], path: number[]): Step | undefined {
  const [first, ...rest] = path
  const next = first === undefined ? undefined : node[first]
  if (next === undefined) return undefined
  return next === '0x' ? { done: true, value: null } : { done: false, next, rest }
}
