import type { TokenCheck } from '@assay/sdk'
import { Badge, type Tone } from '../../ui/parts.tsx'

const tones: Record<string, Tone> = { critical: 'bad', warning: 'warn', notice: 'calm', info: 'plain' }

export function Flags({ flags }: { flags: TokenCheck['flags'] }) {
  if (flags.length === 0) return null
  return (
    <section class="sheet" aria-labelledby="flags">
      <h2 id="flags">Findings</h2>
      <ul class="flag-list">
        {flags.map(({ code, severity, sentence }) => (
          <li key={code}>
            <Badge tone={tones[severity] ?? 'plain'}>{severity}</Badge>
            <span>{sentence}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
