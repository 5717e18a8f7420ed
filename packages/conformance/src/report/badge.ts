import type { Report } from '../run.ts'

/** A small picture with the level that was reached. */
export function badge({ reached, counts }: Report): string {
  const text = reached === null ? 'no level' : `${reached}${counts.skipped > 0 ? ' (partly checked)' : ''}`
  const color = reached === null ? '#b3261e' : counts.failed > 0 ? '#9a6700' : '#1a7f37'
  const label = 'x402'
  const left = 44
  const right = 16 + text.length * 7
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}: ${text}">` +
    `<rect width="${left}" height="20" fill="#444"/><rect x="${left}" width="${right}" height="20" fill="${color}"/>` +
    `<g fill="#fff" font-family="Verdana,sans-serif" font-size="11" text-anchor="middle">` +
    `<text x="${left / 2}" y="14">${label}</text><text x="${left + right / 2}" y="14">${text}</text></g></svg>\n`
  )
}
