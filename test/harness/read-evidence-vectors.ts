import { readdirSync, readFileSync } from 'node:fs'
import { type Change, changesBetween, withChanges } from './evidence-patch.ts'
import type { EvidenceVector } from './evidence-vectors.ts'

export const evidenceFolder = new URL('../vectors/evidence/', import.meta.url)

/** As it is kept: a whole file, or what changes in the file of another vector. */
type Kept = Omit<EvidenceVector, 'file'> & ({ file: unknown } | { base: string; changes: Change[] })

export function readEvidenceVectors(): EvidenceVector[] {
  const names = readdirSync(evidenceFolder)
  const kept = new Map(
    names.map((name) => {
      const one = JSON.parse(readFileSync(new URL(name, evidenceFolder), 'utf8')) as Kept
      return [one.name, one]
    }),
  )
  const fileOf = (name: string): unknown => {
    const one = kept.get(name)
    if (one === undefined) throw new Error(`there is no vector ${name}`)
    return 'file' in one ? one.file : withChanges(fileOf(one.base), one.changes)
  }
  return [...kept.values()].map(({ name, about, args, expected }) => {
    return { name, about, args, expected, file: fileOf(name) }
  })
}

/** Each as a change of the earlier one that it differs least from, or whole where most of it is its own. */
export function renderEvidenceVectors(vectors: readonly EvidenceVector[]): { name: string; text: string }[] {
  const plain = JSON.parse(JSON.stringify(vectors)) as EvidenceVector[]
  const sizeOf = (value: unknown) => JSON.stringify(value).length
  return plain.map((vector, index) => {
    const { file, ...rest } = vector
    const changed = plain.slice(0, index).map(({ name, file: earlier }) => {
      return { ...rest, base: name, changes: changesBetween(earlier, file) }
    })
    const [least] = changed.toSorted((one, other) => sizeOf(one.changes) - sizeOf(other.changes))
    const isMostlyOwn = least === undefined || sizeOf(least.changes) > sizeOf(file) / 2
    return { name: vector.name, text: render(isMostlyOwn ? vector : least) }
  })
}

/** A field a line, and a change a line. */
function render(kept: Kept): string {
  if ('file' in kept) return `${JSON.stringify(kept, null, 2)}\n`
  const { changes, ...rest } = kept
  const fields = Object.entries(rest).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`)
  const lines = changes.map((change) => `\n    ${JSON.stringify(change)}`)
  return `{\n${fields.join('')}  "changes": [${lines.join(',')}${lines.length > 0 ? '\n  ' : ''}]\n}\n`
}
