import { toBase64 } from '@assay/protocol/base64'
import { sameBytes, toHexDigits } from '@assay/protocol/bytes'
import { isSignedByLog } from '@assay/protocol/log/checkpoint'
import type { ForkEvidence } from '@assay/protocol/log/fork-evidence'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { emptyRoot } from '../tree-hash.ts'
import { auditEntries, auditLeaves, hasEdge } from './audit-leaves.ts'
import { checkReceipts } from './check-receipts.ts'
import { checkQuorum, recordCosignatures } from './check-witnesses.ts'
import { checkBehind, compareView, firstProof, type View } from './compare-views.ts'
import { gatherViews } from './gather-views.ts'
import { makeForkEvidence } from './make-fork-evidence.ts'
import type { GrowthVerdict } from './prove-growth.ts'
import { type Description, type Head, keysFor, parseHead, readDescription, readHead } from './read-head.ts'
import { keptTiles, remoteTiles, TileError, type TileSource } from './tile-source.ts'
import { emptyState, type Finding, type HttpAnswer, type LogState, type MonitorDeps } from './types.ts'

const growthMax = 500
const requestsMax = 4_096
const pollMsMax = 300_000
const staleMsMax = 60_000
/** One pair of heads is proof enough, and a log can sign another one for each check. */
const forksMax = 16
const keysMax = 256

/** One check of a log: the state after it. What is found is in `findings`; forks stay for ever. */
export async function checkLog(deps: MonitorDeps, url: string): Promise<LogState> {
  const before = (await deps.store.readState()) ?? emptyState(url)
  const look = new Look(
    { ...deps, http: untilDeadline(deps) },
    { ...before, url, findings: [], checked_at: toRfc3339(deps.clock.nowMs()) },
  )
  await look.run()
  await deps.store.writeState(look.state)
  return look.state
}

/** A log that answers slowly, tile after tile, does not hold the monitor for ever. */
function untilDeadline({ http, clock }: MonitorDeps): MonitorDeps['http'] {
  const endMs = clock.monotonicMs() + pollMsMax
  const late = (): HttpAnswer | undefined =>
    clock.monotonicMs() > endMs ? { ok: false, reason: 'the check took too long' } : undefined
  return {
    get: async (url, bytesMax) => late() ?? http.get(url, bytesMax),
    postJson: async (url, body, bytesMax) => late() ?? http.postJson(url, body, bytesMax),
  }
}

class Look {
  readonly deps: MonitorDeps
  state: LogState
  readonly remote: TileSource
  readonly nowMs: number

  constructor(deps: MonitorDeps, state: LogState) {
    this.deps = deps
    this.state = state
    this.nowMs = deps.clock.nowMs()
    this.remote = remoteTiles(deps.http, state.url, { requests: requestsMax })
  }

  async run(): Promise<void> {
    for (const name of this.state.forks) this.find('fork', 'alarm', `the log has shown two histories: ${name}`)
    const description = await readDescription(this.deps.http, this.state.url)
    if (!(await this.followHead(description))) return
    const { views, findings, anchors } = await gatherViews(this.deps, this.state, description)
    this.state = { ...this.state, anchors, findings: [...this.state.findings, ...findings] }
    // A head that somebody read recently may be newer than the one that was read before it.
    if (views.some(({ note }) => (parseHead(note)?.size ?? 0) > (this.state.head?.size ?? 0)))
      await this.followHead(description)
    for (const view of views) await this.compareWith(view)
    await this.finishWitnesses(views)
    await this.audit()
    await this.findReceipts()
    this.checkGrowth()
  }

  find(kind: Finding['kind'], severity: Finding['severity'], detail: string): void {
    if (this.state.findings.some((known) => known.kind === kind && known.detail === detail)) return
    this.state = { ...this.state, findings: [...this.state.findings, { kind, severity, detail }] }
  }

  /** Reads the newest head and takes it if it is signed and continues the last one. False when there is nothing to go on. */
  async followHead(description: Description | undefined): Promise<boolean> {
    const answer = await readHead(this.deps.http, this.state.url)
    if (!answer.ok) {
      this.state = { ...this.state, failures: this.state.failures + 1 }
      this.find(answer.kind, 'warning', answer.reason)
      return false
    }
    this.state = { ...this.state, failures: 0 }
    const { head } = answer
    if (!(await this.pin(head, description))) return false
    await this.compareWithLast(head)
    return this.state.head !== null
  }

  /** Keys and origin are those of the first contact, unless the operator gave them. */
  async pin(head: Head, description: Description | undefined): Promise<boolean> {
    const { origin } = head
    if (this.state.origin !== null && this.state.origin !== origin) {
      this.find('origin_changed', 'alarm', `the log calls itself ${origin} instead of ${this.state.origin}`)
      return false
    }
    const { lost } = this.state
    const own = (vkey: string) => vkey.startsWith(`${origin}+`)
    const given = this.deps.options.keys.filter(own)
    const inForce = given.filter((vkey) => !lost.includes(vkey))
    const pinned = inForce.length > 0 ? inForce : this.state.keys
    const isFirst = given.length + lost.length + pinned.length === 0
    const first = isFirst ? (description?.keys ?? []).filter(own) : pinned
    const keys = await keysFor(head, first, description)
    if (keys.length > keysMax) {
      this.find('unknown_key', 'alarm', `the log names more than ${keysMax} keys`)
      return false
    }
    // A revoked key stays revoked even if the log leaves that out later, as it would if the thief of the key ran it.
    const taken = first.filter((vkey) => !keys.includes(vkey))
    this.state = {
      ...this.state,
      lost: [...lost, ...taken],
      keys: this.state.keys.filter((key) => !taken.includes(key)),
    }
    if (!(await isSignedByLog(head, keys))) {
      this.find('unknown_key', 'alarm', keys.length === 0 ? 'no key of the log is known' : 'not signed by a known key')
      return false
    }
    this.state = { ...this.state, origin, keys: [...keys] }
    return true
  }

  async compareWithLast(head: Head): Promise<void> {
    const last = this.state.head === null ? undefined : parseHead(this.state.head.note)
    const { size, root } = head
    if (last && size < last.size) {
      // Replicas and caches may be a little behind each other.
      if (this.nowMs - Date.parse(this.state.head?.seen_at ?? '') > staleMsMax)
        this.find('shrunk', 'alarm', `the log shows size ${size} after it had shown ${last.size}`)
      const verdict = await firstProof([this.kept(), this.remote], head, last)
      if (verdict.kind === 'fork') await this.keepFork(head, last, verdict)
      return
    }
    if (last?.size === size && sameBytes(last.root, root)) return this.accept(head, false)
    const from = last ?? emptyHead(head)
    if (last === undefined && size === 0) {
      if (sameBytes(root, emptyRoot)) await this.accept(head, true)
      else this.find('malformed', 'alarm', 'an empty tree with a root that is not that of the empty tree')
      return
    }
    const verdict = await this.prove(from, head)
    if (verdict.kind === 'consistent') return this.accept(head, true)
    if (verdict.kind === 'fork' && last) return this.keepFork(last, head, verdict)
    if (verdict.kind !== 'unproven') return
    if (verdict.missing) this.find('tiles_missing', 'warning', verdict.reason)
    else this.find('tiles_wrong', 'alarm', verdict.reason)
  }

  /** From verified tiles and new ones; where these do not fit together, from what the log serves now. */
  prove(from: Head, head: Head) {
    return firstProof([this.kept(), this.remote], from, head)
  }

  kept(): TileSource {
    return keptTiles(this.deps.store, this.state.audited, this.remote)
  }

  async accept(head: Head, grown: boolean): Promise<void> {
    const { size, root } = head
    const seenAt = toRfc3339(this.nowMs)
    this.state = {
      ...this.state,
      head: { size, root: toBase64(root), note: head.note, seen_at: seenAt },
      witnesses: await recordCosignatures(this.state.witnesses, head, this.deps.options.witnesses, this.nowMs),
      grown_at: grown ? seenAt : this.state.grown_at,
      growth: grown ? thinned([...this.state.growth, [this.nowMs, size]]) : this.state.growth,
    }
  }

  async keepFork(smaller: Head, larger: Head, verdict: Extract<GrowthVerdict, { kind: 'fork' }>) {
    const source = this.state.url
    const seenAt = toRfc3339(this.nowMs)
    await this.writeFork(
      makeForkEvidence({ head: smaller, source }, { head: larger, source }, verdict, this.signers(), seenAt),
    )
  }

  /** A head from before a key was revoked bears that key. */
  signers(): string[] {
    return [...this.state.keys, ...this.state.lost]
  }

  async writeFork(evidence: ForkEvidence): Promise<void> {
    const [a, b] = evidence.heads.map((text) => parseHead(text))
    const name = `fork-${a?.size}-${b?.size}-${shortHex(b)}${shortHex(a)}.json`
    const { forks } = this.state
    if (forks.length >= forksMax && !forks.includes(name))
      return this.find('fork', 'alarm', `the log shows ever more histories; the first ${forksMax} are kept`)
    const file = forks.includes(name) ? name : await this.deps.store.writeFork(evidence, name)
    this.state = { ...this.state, forks: [...new Set([...forks, file])] }
    this.find('fork', 'alarm', `the log has shown two histories: ${file}`)
  }

  async compareWith(view: View): Promise<void> {
    const head = parseHead(this.state.head?.note ?? '')
    if (!head) return
    const own = { head, source: this.state.url, keys: this.state.keys, tiles: [this.kept(), this.remote] }
    const compared = await compareView(own, view, toRfc3339(this.nowMs))
    if (compared.evidence) await this.writeFork(compared.evidence)
    else if (compared.finding) this.find(compared.finding.kind, compared.finding.severity, compared.finding.detail)
    for (const { kind, severity, detail } of checkBehind(view.source, this.state.views[view.source]?.size, head.size))
      this.find(kind, severity, detail)
    const seen = { size: compared.size, verdict: compared.verdict, seen_at: toRfc3339(this.nowMs) }
    const transaction = /^anchor (0x[0-9a-f]{64})$/.exec(view.source)?.[1]
    if (transaction === undefined) this.state = { ...this.state, views: { ...this.state.views, [view.source]: seen } }
    else if (compared.size !== null) {
      const anchor = {
        size: compared.size,
        transaction,
        agrees: compared.verdict === 'ahead' ? null : compared.verdict === 'agrees',
      }
      const others = this.state.anchors.seen.filter((one) => one.transaction !== transaction)
      this.state = { ...this.state, anchors: { ...this.state.anchors, seen: [...others, anchor].slice(-64) } }
    }
  }

  /** What a witness itself shows is as good as its line under the head of the log. */
  async finishWitnesses(views: readonly View[]): Promise<void> {
    const { options } = this.deps
    for (const { note } of views) {
      const head = parseHead(note)
      const size = this.state.head?.size ?? 0
      if (!head || head.size > size || !(await isSignedByLog(head, this.state.keys))) continue
      this.state = {
        ...this.state,
        witnesses: await recordCosignatures(this.state.witnesses, head, options.witnesses, this.nowMs),
      }
    }
    for (const finding of checkQuorum(this.state.witnesses, options, this.nowMs))
      this.find(finding.kind, finding.severity, finding.detail)
  }

  async audit(): Promise<void> {
    const head = parseHead(this.state.head?.note ?? '')
    if (!head) return
    const { options, store: kept, http } = this.deps
    const goal = { size: head.size, root: head.root }
    if (!(await hasEdge(kept, this.state.audited))) this.state = { ...this.state, audited: 0, entries: 0 }
    const room = Math.floor(options.leavesMax / 256) - Math.floor(this.state.audited / 256)
    const tiles = Math.min(options.tilesPerCheck, room)
    await this.guardTiles('tiles_wrong', async () => {
      await auditLeaves({ source: this.remote, kept, head: goal }, this.state.audited, tiles, (audited) => {
        this.state = { ...this.state, audited }
      })
    })
    if (options.entries)
      await this.guardTiles('entries_wrong', async () => {
        const { audited, url } = this.state
        await auditEntries(
          { http, kept, prefix: url },
          this.state.entries,
          audited,
          options.tilesPerCheck,
          (entries) => {
            this.state = { ...this.state, entries }
          },
        )
      })
    const complete = this.state.audited === head.size && (!options.entries || this.state.entries === head.size)
    if (complete && this.state.head) await kept.writeCheckpoint(this.state.head.note)
  }

  async guardTiles(kind: 'tiles_wrong' | 'entries_wrong', work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => {
      if (!(error instanceof TileError)) throw error
      if (error.kind === 'missing') this.find('tiles_missing', 'warning', error.message)
      else this.find(kind, 'alarm', error.message)
    })
  }

  async findReceipts(): Promise<void> {
    const { options, store: kept } = this.deps
    const { origin, audited, head } = this.state
    if (options.receipts === undefined || origin === null) return
    const log = { origin, audited, complete: audited === head?.size, kept }
    const { receipts, findings } = await checkReceipts(options.receipts, log, options.graceMs, this.nowMs)
    this.state = { ...this.state, receipts }
    for (const finding of findings) this.find(finding.kind, finding.severity, finding.detail)
  }

  checkGrowth(): void {
    const since = Date.parse(this.state.grown_at ?? '')
    if (!(this.nowMs - since > this.deps.options.stillMs)) return
    this.find('not_growing', 'warning', `the log has not grown since ${this.state.grown_at}`)
  }
}

const shortHex = (head: Head | undefined) => toHexDigits(head?.root.subarray(0, 4) ?? emptyRoot)

const emptyHead = (head: Head): Head => ({ ...head, size: 0, root: emptyRoot })

/** Every second of the older half goes when there are too many. */
function thinned(growth: [number, number][]): [number, number][] {
  if (growth.length <= growthMax) return growth
  return growth.filter((_, index) => index > growth.length / 2 || index % 2 === 0)
}
