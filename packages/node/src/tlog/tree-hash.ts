import { treeHash } from '@assay/protocol/log/merkle'
import { sha256 } from '@assay/till/kernel/bytes'

/** With the hash of Node: a tile alone is made of 255 of them. */
export const { leafHash, nodeHash, emptyRoot } = treeHash(sha256)
