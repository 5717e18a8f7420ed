import { parseUsd } from '@assay/protocol/money'
import { InvalidArgumentError, Option } from 'commander'

// Read before a command begins: what is typed wrongly must not depend on whether a node runs.

export const limitOption = [
  '--limit <n>',
  'maximum number, up to 1000',
  (text: string): number => wholeOf(text, 1, 1_000),
  20,
] as const

export const choiceOption = (flags: string, description: string, choices: readonly string[]): Option =>
  new Option(flags, description).choices([...choices])

export const reasonOption = [
  '--reason <text>',
  'reason, kept in the audit log',
  (text: string): string => {
    if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.')
    return text
  },
] as const

export function wholeOf(text: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least && value <= most))
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`)
  return value
}

/** Kept as text: what is an amount of money is computed with by those who know its unit. */
export function usdText(text: string): string {
  if (!parseUsd(text)) throw new InvalidArgumentError('It must be decimal USD above zero, such as 12.50.')
  return text
}

export function addressText(text: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new InvalidArgumentError('It must be an address: 0x and 40 hex digits.')
  return text
}

export function timeText(text: string): string {
  if (Number.isNaN(Date.parse(text))) throw new InvalidArgumentError('It must be a time such as 2026-01-31T12:00:00Z.')
  return text
}

export function dayText(text: string): string {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN)
  if (Number.isNaN(time.getTime()) || time.toISOString().slice(0, 10) !== text)
    throw new InvalidArgumentError('It must be a day such as 2026-01-31.')
  return text
}
