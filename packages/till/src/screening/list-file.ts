import { readFile, stat } from 'node:fs/promises'
import type { Address } from '@assay/protocol/address'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { parseList } from './parse-list.ts'
import { type Screening, ScreeningUnavailable } from './screening.ts'

export type ListDeps = { clock: Clock; log: Log; metrics: Metrics }

const pollEveryMs = 1_000
const bytesMax = 256 * 1024 * 1024

type Known = { version: string; addresses: ReadonlySet<Address> } | { version: string; problem: string }

/** A list in a file, read again when the file changes. A file that cannot be read refuses everybody until it can. */
export function createListScreening(file: string, deps: ListDeps): Screening {
  let known: Known | undefined
  let checkAtMs = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined

  const look = async () => {
    const next = await readVersion(file, known)
    checkAtMs = deps.clock.monotonicMs() + pollEveryMs
    if (next === known) return
    known = next
    if ('problem' in next) {
      deps.metrics.count('alarms', { alarm: 'screening_list_broken' })
      deps.log.error({ file, problem: next.problem }, 'the screening list cannot be used; nothing is sold or sent')
    } else deps.log.info({ file, addresses: next.addresses.size }, 'screening list read')
  }
  return {
    find: async (account) => {
      if (deps.clock.monotonicMs() >= checkAtMs) {
        looking ??= look().finally(() => {
          looking = undefined
        })
        await looking
      }
      if (!known || 'problem' in known)
        throw new ScreeningUnavailable(`SCREENING_LIST: ${known?.problem ?? 'not read yet'}`)
      return known.addresses.has(account) ? { source: 'list', reason: 'sanctions_list' } : undefined
    },
  }
}

/** The same object while the file is the same. */
async function readVersion(file: string, known: Known | undefined): Promise<Known> {
  try {
    const { mtimeMs, size, ino } = await stat(file)
    const version = `${ino} ${mtimeMs} ${size}`
    if (known?.version === version) return known
    if (size > bytesMax) return { version, problem: `is larger than ${bytesMax} bytes` }
    return { version, ...parseList(await readFile(file, 'utf8')) }
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException
    return known?.version === code ? known : { version: code, problem: `cannot be read (${code})` }
  }
}
