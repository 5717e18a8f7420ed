import { toBase64 } from '@assay/protocol/base64'
import type { ForkEvidence } from '@assay/protocol/log/fork-evidence'
import type { GrowthVerdict } from './prove-growth.ts'
import type { Head } from './read-head.ts'

export function makeForkEvidence(
  smaller: { head: Head; source: string },
  larger: { head: Head; source: string },
  verdict: Extract<GrowthVerdict, { kind: 'fork' }>,
  keys: readonly string[],
  seenAt: string,
): ForkEvidence {
  const sameSize = smaller.head.size === larger.head.size
  return {
    format: 'assay-log-fork',
    version: 1,
    origin: larger.head.origin,
    keys: [...keys],
    heads: [smaller.head.note, larger.head.note],
    sources: [smaller.source, larger.source],
    ...(sameSize
      ? {}
      : {
          consistency: {
            prefix_root: toBase64(verdict.prefixRoot),
            proof: verdict.proof.map(toBase64),
          },
        }),
    seen_at: seenAt,
  }
}
