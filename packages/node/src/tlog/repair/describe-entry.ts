/** How a leaf that came back is filed. What it says of its sale is all that is left of it: the rows of the sale are gone. */
export type FiledEntry = { kind: string; subject: string }

const kinds: Record<string, string> = {
  'assay.citation/v1': 'citation',
  'assay.claim/v1': 'claim',
  'assay.royalty/v1': 'royalty',
}

export function describeEntry(entry: Uint8Array, index: number): FiledEntry {
  const unknown = { kind: 'restored', subject: `restored:${index}` }
  try {
    const fields = JSON.parse(Buffer.from(entry).toString('utf8')) as Record<string, unknown>
    const kind = kinds[String(fields['type'])]
    if (kind !== undefined && typeof fields['id'] === 'string' && fields['id'].length > 0 && fields['id'].length <= 300)
      return { kind, subject: fields['id'] }
    if (fields['type'] === 'assay.score/v1')
      return { kind: 'score', subject: `score:${fields['domain']}:${fields['seq']}`.slice(0, 300) }
    return unknown
  } catch {
    return unknown
  }
}
