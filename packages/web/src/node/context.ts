import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { NodeIndex } from './node-index.ts'

/** The node whose console this is; pages are shown only once it is known. */
export const NodeContext = createContext<NodeIndex | undefined>(undefined)

export function useNode(): NodeIndex {
  const index = useContext(NodeContext)
  if (index === undefined) throw new Error('a page was shown before the node was known')
  return index
}
