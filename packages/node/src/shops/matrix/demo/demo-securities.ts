import type { SecurityKind } from '../symbols/classify-security.ts'
import { draw, drawNormal } from './chance.ts'

/** An invented security. Its symbol begins with ZZ, its name with Synthetic: nobody can take it for a real one. */
export type DemoSecurity = {
  index: number
  symbol: string
  name: string
  kind: SecurityKind
  exchange: 'Q' | 'N' | 'P' | 'Z'
  cik: number
  cusip: string
  shares: number
  /** Usual short interest over shares. */
  shortRatio: number
  basePrice: number
  dailyMove: number
  /** Usual daily volume. */
  volume: number
  /** Squeezes happen to a few heavily shorted ones. */
  prone: boolean
}

const letters = (n: number) =>
  String.fromCharCode(65 + (Math.floor(n / 676) % 26), 65 + (Math.floor(n / 26) % 26), 65 + (n % 26))

export function createDemoSecurities(count: number): DemoSecurity[] {
  return Array.from({ length: count }, (_, index) => security(index))
}

/** Of 25 in a row: 5 funds, 1 ADR, and one each of class share, preferred, warrant and unit of the share before. */
function security(index: number): DemoSecurity {
  const place = index % 25
  const root = `ZZ${letters((index * 7_919) % 17_576)}`
  const issuer = place >= 21 ? `ZZ${letters((Math.floor(index / 25) * 25 * 7_919) % 17_576)}` : root
  const { kind, symbol, what } = paperOf(place, root, issuer)
  const company = kind === 'share' || kind === 'adr'
  const shortDraw = draw(index, 0, 1)
  const prone = company && draw(index, 0, 2) < 0.06
  const shares = Math.round(Math.exp(15.5 + 4.5 * draw(index, 0, 3)))
  // What is heavily shorted moves more and changes hands more often, which is why it can be covered within days.
  const shortRatio = prone ? 0.08 + 0.26 * shortDraw ** 2 : 0.003 + 0.15 * shortDraw ** 4
  const turnover = 0.002 + 0.008 * draw(index, 0, 7) + shortRatio * (0.06 + 0.24 * draw(index, 0, 20))
  const basePrice = Math.exp(1 + 4 * draw(index, 0, 4))
  return {
    index,
    symbol,
    name: `Synthetic ${String(index).padStart(5, '0')} ${what}`,
    kind,
    exchange:
      kind === 'etf' ? (place % 2 === 0 ? 'P' : 'Z') : draw(index, 0, 5) < 0.55 && !symbol.includes('.') ? 'Q' : 'N',
    cik: 9_000_001 + (symbol.includes('.') ? Math.floor(index / 25) * 25 : index),
    cusip: `ZZ${String(index).padStart(5, '0')}1${index % 10}`,
    shares,
    shortRatio,
    basePrice,
    dailyMove: company ? 0.012 + 0.03 * draw(index, 0, 6) + 0.06 * shortRatio : 0.008,
    volume: Math.max(500, shares * turnover),
    prone,
  }
}

function paperOf(place: number, root: string, issuer: string): { kind: SecurityKind; symbol: string; what: string } {
  if (place === 21) return { kind: 'share', symbol: `${issuer}.B`, what: 'Corp Class B Common Stock' }
  if (place === 22) return { kind: 'preferred', symbol: `${issuer}.PRA`, what: 'Corp 6.00% Series A Preferred Stock' }
  if (place === 23) return { kind: 'warrant', symbol: `${issuer}.WS`, what: 'Corp Warrants' }
  if (place === 24) return { kind: 'unit', symbol: `${issuer}.U`, what: 'Corp Units' }
  if (place % 5 === 4) return { kind: 'etf', symbol: root, what: 'Index ETF' }
  return place === 7
    ? { kind: 'adr', symbol: root, what: 'plc American Depositary Shares' }
    : { kind: 'share', symbol: root, what: 'Corp Common Stock' }
}

const cycleDays = 84
const buildUpDays = 14
const runDays = 16

/** Where in a squeeze a security is: undefined for none, below 0 while pressure builds, up to 1 while it runs and fades. */
export function squeezePhase(security: DemoSecurity, day: number): number | undefined {
  if (!security.prone) return undefined
  const cycle = Math.floor(day / cycleDays)
  const start =
    cycle * cycleDays + buildUpDays + Math.floor(draw(security.index, cycle, 8) * (cycleDays - buildUpDays - runDays))
  if (day >= start) return day - start <= runDays ? (day - start) / runDays : undefined
  return start - day <= buildUpDays ? (day - start) / buildUpDays : undefined
}

/** How far a squeeze has carried the price: up within a week, back within two. */
function squeezeLift(security: DemoSecurity, day: number): number {
  const phase = squeezePhase(security, day)
  if (phase === undefined || phase < 0) return 0
  const height = 0.5 + 1.3 * draw(security.index, Math.floor(day / cycleDays), 9)
  return height * (phase < 0.4 ? phase / 0.4 : (1 - phase) / 0.6)
}

const memoryDays = 24

/** A price for any day without walking to it: the last weeks' moves, a slow wave, and what a squeeze adds. */
export function priceOn(security: DemoSecurity, day: number): number {
  let walk = 0
  for (let back = 0; back < memoryDays; back += 1)
    walk += drawNormal(security.index, day - back, 10) * (1 - back / memoryDays)
  const wave = 0.15 * Math.sin(day / 37 + security.index)
  return security.basePrice * Math.exp(security.dailyMove * walk * 0.8 + wave + squeezeLift(security, day))
}

export function volumeOn(security: DemoSecurity, day: number): number {
  const phase = squeezePhase(security, day)
  const rush = phase === undefined ? 1 : phase < 0 ? 1.3 : 4 - 2 * phase
  return Math.round(security.volume * rush * Math.exp(0.5 * drawNormal(security.index, day, 11)))
}

export function shortInterestOn(security: DemoSecurity, day: number): number {
  const phase = squeezePhase(security, day)
  const pressure = phase === undefined ? 1 : phase < 0 ? 1.25 : 1.1 - 0.4 * phase
  const drift = 1 + 0.12 * drawNormal(security.index, Math.floor(day / 14), 12)
  return Math.round(security.shares * security.shortRatio * pressure * Math.max(0.3, drift))
}

export function borrowFeeOn(security: DemoSecurity, day: number): number {
  const phase = squeezePhase(security, day)
  const scarcity = Math.max(0, security.shortRatio - 0.06) * 100
  const heat = phase === undefined ? 1 : phase < 0 ? 2 + phase : 2.2 - phase
  return (
    Math.round(
      (0.25 + 0.4 * draw(security.index, 0, 13) + scarcity * heat * (1 + 0.1 * drawNormal(security.index, day, 14))) *
        1e4,
    ) / 1e4
  )
}

export function availableOn(security: DemoSecurity, day: number): number {
  const phase = squeezePhase(security, day)
  const share = security.shortRatio > 0.07 ? 0.02 : 0.3
  const dried = phase === undefined ? 1 : 0.1
  return Math.floor((security.shares * share * dried * (0.5 + draw(security.index, day, 15))) / 100) * 100
}

export function failsOn(security: DemoSecurity, day: number): number {
  const phase = squeezePhase(security, day)
  if (phase === undefined && draw(security.index, Math.floor(day / 3), 16) > 0.35) return 0
  const share = (phase === undefined ? 0.0004 : 0.003) * (1 + 8 * security.shortRatio)
  return Math.floor(security.shares * share * draw(security.index, day, 17) ** 2)
}

/** On a threshold list from the middle of a run on, as five days of fails bring it there. */
export function onThresholdList(security: DemoSecurity, day: number): boolean {
  const phase = squeezePhase(security, day)
  return phase !== undefined && phase > 0.3 && phase < 0.95
}

export function shortShareOn(security: DemoSecurity, day: number): number {
  const phase = squeezePhase(security, day)
  const usual = 0.35 + 0.2 * draw(security.index, 0, 18)
  const extra = phase === undefined ? 0 : 0.08
  return Math.min(0.95, Math.max(0.02, usual + extra + 0.06 * drawNormal(security.index, day, 19)))
}
