import type { SourceState } from '@assay/sdk'
import type { Tone } from '../../ui/parts.tsx'

const tones: Record<SourceState, Tone> = {
  registered: 'calm',
  proving: 'calm',
  proven: 'good',
  disputed: 'warn',
  held: 'warn',
  refused: 'bad',
}

export const stateTone = (state: SourceState): Tone => tones[state] ?? 'plain'
