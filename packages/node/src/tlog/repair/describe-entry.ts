type Fields = Readonly<Record<string, unknown>>

/** Entries of one `type`: the kind they are filed under, and what they are about, their `id` unless it says otherwise. */
export type LogEntryType = { type: string; kind: string; subjectOf?(fields: Fields): string }

const idOf = ({ id }: Fields) => (typeof id === 'string' ? id : '')

/** How a leaf that came back is filed. What it says of its sale is all that is left of it: the rows of the sale are gone. */
export function describeEntry(types: readonly LogEntryType[], entry: Uint8Array, index: number) {
  const unknown = { kind: 'restored', subject: `restored:${index}` }
  try {
    const fields = JSON.parse(Buffer.from(entry).toString('utf8')) as Fields
    const known = types.find(({ type }) => type === fields['type'])
    const subject = known && (known.subjectOf ?? idOf)(fields)
    return known && subject && subject.length <= 300 ? { kind: known.kind, subject } : unknown
  } catch {
    return unknown
  }
}
