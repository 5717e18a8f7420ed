import { escapeMarkup } from '@assay/protocol/escape-markup'
import { powerNames } from '../evaluate/types.ts'
import type { SignedReport } from './render-markdown.ts'

const rowHeight = 30
const width = 860
const left = 20
const right = 560
const boxHeight = 22
const colours: Record<string, string> = {
  impossible: '#3f8f5b',
  latent: '#b98a1d',
  armed: '#c0392b',
  exercised: '#8e1f12',
  unknown: '#6b7280',
}
const partiesMax = 24

/** Accounts on the left, powers on the right, a line where one has the other. */
export function renderDiagram(report: SignedReport): string {
  const accounts = new Map<string, string>()
  for (const name of powerNames) {
    const power = report.powers[name]
    for (const party of [...(power?.who ?? []), ...(power?.could_become ?? [])])
      if (accounts.size < partiesMax || accounts.has(party.account))
        accounts.set(party.account, String(party.label.kind))
  }
  const names = [...accounts.keys()]
  const rows = Math.max(names.length, powerNames.length)
  const height = rows * rowHeight + 20
  const y = (index: number) => 10 + index * rowHeight
  const lines: string[] = []
  for (const [index, name] of powerNames.entries()) {
    const power = report.powers[name]
    const line = (account: string, dashed: boolean) => {
      const from = names.indexOf(account)
      if (from < 0) return
      const colour = colours[power?.state ?? 'unknown'] ?? '#6b7280'
      lines.push(
        `<path d="M${left + 270} ${y(from) + 11} C ${left + 400} ${y(from) + 11} ${right - 130} ${y(index) + 11} ${right} ${y(index) + 11}" fill="none" stroke="${colour}" stroke-width="1.5"${dashed ? ' stroke-dasharray="4 4"' : ''}/>`,
      )
    }
    for (const party of power?.who ?? []) line(party.account, false)
    for (const party of power?.could_become ?? []) line(party.account, true)
  }
  const people = names.map((account, index) =>
    box(
      left,
      y(index),
      270,
      '#334155',
      `${account.slice(0, 10)}…${account.slice(-6)} · ${accounts.get(account) ?? ''}`,
    ),
  )
  const powers = powerNames.map((name, index) => {
    const state = report.powers[name]?.state ?? 'unknown'
    return box(right, y(index), 270, colours[state] ?? '#6b7280', `${name} · ${state}`)
  })
  const nobody = names.length === 0 ? box(left, y(0), 270, '#94a3b8', 'nobody') : ''
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Who holds which power"><title>Who holds which power</title>${lines.join('')}${people.join('')}${nobody}${powers.join('')}</svg>`
}

function box(x: number, y: number, boxWidth: number, fill: string, text: string): string {
  return `<rect x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="4" fill="${fill}"/><text x="${x + 10}" y="${y + 15}" font-family="ui-monospace,monospace" font-size="12" fill="#fff">${escapeMarkup(text)}</text>`
}
