import { escapeMarkup } from '@assay/protocol/escape-markup'
import type { RslTerms } from '../crawl/rsl.ts'

/** Where this node publishes the terms of a creator. */
export const rslUrl = ({ apiUrl }: { apiUrl: string }, domain: string) => `${apiUrl}/v1/sources/${domain}/rsl.xml`

/** An RSL 1.0 document (rslstandard.org), media type application/rsl+xml. */
export function writeRsl(licences: readonly RslTerms[]): string {
  const contents = new Map<string, RslTerms[]>()
  for (const licence of licences) contents.set(licence.content, [...(contents.get(licence.content) ?? []), licence])
  const body = [...contents].map(
    ([url, own]) => `  <content url="${escapeMarkup(url)}">\n${own.map(licenceXml).join('')}  </content>\n`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<rsl xmlns="https://rslstandard.org/rsl">\n${body.join('')}</rsl>\n`
}

function licenceXml({ permits, prohibits, payments }: RslTerms): string {
  const uses = (name: string, list: readonly string[]) =>
    list.length === 0 ? [] : [`<${name} type="usage">${escapeMarkup(list.join(' '))}</${name}>`]
  const lines = [
    ...uses('permits', permits),
    ...uses('prohibits', prohibits),
    ...payments.map(({ type, amount, currency }) =>
      amount === undefined
        ? `<payment type="${escapeMarkup(type)}"/>`
        : `<payment type="${escapeMarkup(type)}"><amount currency="${escapeMarkup(currency ?? '')}">${escapeMarkup(amount)}</amount></payment>`,
    ),
  ]
  return `    <license>\n${lines.map((line) => `      ${line}\n`).join('')}    </license>\n`
}
