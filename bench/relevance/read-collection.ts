export type CollectionDoc = { id: string; title: string; text: string }
export type CollectionQuery = { id: string; text: string }
/** Query id to document id to grade; what is not listed is not relevant. */
export type Qrels = Map<string, Map<string, number>>

/** SMART collections (.I .T .W …), TREC-like SGML (<DOC>), or one JSON object a line (`_id`, `title`, `text`). */
export function readDocs(text: string): CollectionDoc[] {
  if (text.startsWith('.I'))
    return smartRecords(text).map(({ id, fields }) => ({ id, title: fields['T'] ?? '', text: fields['W'] ?? '' }))
  if (/^\s*<DOC>/i.test(text))
    return [...text.matchAll(/<DOC>([\s\S]*?)<\/DOC>/gi)].map(([, doc = '']) => ({
      id: tag(doc, 'DOCNO'),
      title: tag(doc, 'TITLE') || tag(doc, 'HEADLINE'),
      text: tag(doc, 'TEXT'),
    }))
  return jsonLines(text).map((line) => ({
    id: String(line['_id']),
    title: String(line['title'] ?? ''),
    text: String(line['text'] ?? ''),
  }))
}

export function readQueries(text: string): CollectionQuery[] {
  if (text.startsWith('.I'))
    return smartRecords(text).map(({ id, fields }) => ({
      id,
      text: `${fields['T'] ?? ''} ${fields['W'] ?? ''}`.trim(),
    }))
  if (/<top>/i.test(text))
    return [...text.matchAll(/<top>([\s\S]*?)<\/top>/gi)].map(([, topic = '']) => ({
      id: /<num>\s*(?:Number:)?\s*(\S+)/i.exec(topic)?.[1] ?? '',
      text: /<title>\s*(?:Topic:)?\s*([^<\n]+)/i.exec(topic)?.[1]?.trim() ?? '',
    }))
  return jsonLines(text).map((line) => ({ id: String(line['_id']), text: String(line['text'] ?? '') }))
}

/**
 * `query doc …` as SMART has it (every line is relevant), `query 0 doc grade` as TREC has it, or `query doc grade` with
 * a header. Distinguished by the number of columns and, for four, by whether all grades are zero.
 */
export function readQrels(text: string): Qrels {
  const rows = text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns.length >= 2)
  if (rows[0]?.[0]?.includes('query')) rows.shift()
  const smart = rows.every((columns) => columns.length === 2 || (columns.length === 4 && Number(columns[3]) === 0))
  const qrels: Qrels = new Map()
  for (const columns of rows) {
    const [query = '', second = ''] = columns
    const doc = !smart && columns.length === 4 ? (columns[2] ?? '') : second
    const grade = smart ? 1 : Number(columns.at(-1))
    const number = plainNumber(query)
    const known = qrels.get(number) ?? new Map<string, number>()
    qrels.set(number, known.set(plainNumber(doc), grade))
  }
  return qrels
}

/** Collections write the same number as `1` and as `01`. */
const plainNumber = (id: string) => id.replace(/^0+(?=\d+$)/, '')

function smartRecords(text: string): { id: string; fields: Record<string, string> }[] {
  return text
    .split(/^\.I\s+/m)
    .slice(1)
    .map((record) => {
      const [first = '', ...lines] = record.split('\n')
      const fields: Record<string, string> = {}
      let field = ''
      for (const line of lines) {
        const marker = /^\.([A-Z])\s*$/.exec(line)?.[1]
        if (marker !== undefined) field = marker
        else if (field !== '') fields[field] = `${fields[field] ?? ''} ${line}`
      }
      return { id: first.trim(), fields }
    })
}

const tag = (text: string, name: string) =>
  (new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'i').exec(text)?.[1] ?? '').replace(/<[^>]+>/g, ' ').trim()

function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}
