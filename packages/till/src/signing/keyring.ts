import type { Address } from '@assay/protocol/address'
import type { KeyPurpose, KeyStatement } from '@assay/protocol/keys/key-statement'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Rng } from '../kernel/random.ts'
import type { Database } from '../store/database.ts'
import { type KeyringRow, keyringChannel, readKeyring, storeFirstKey } from './keyring-store.ts'
import { createPrivateKeyStore, type KeyPlace, type PrivateKeyStore } from './private-keys.ts'
import type { PrivateSigningKey } from './signing-key.ts'

/** Whose keys these are: statements name the node and are signed by this wallet. */
/** `node` and `api` are its base address and that of its interface. */
export type KeyringIdentity = { node: string; api: string; chainId: number; operator: Address }

export type Keyring = {
  readonly purpose: KeyPurpose
  /** The key that signs now. Follows the database, so all processes switch at the same second. */
  active(): PrivateSigningKey
  /** Every key that is in force now and held here, the newest first: while one replaces another there are two. */
  signers(): readonly PrivateSigningKey[]
  /** A key of this node whose private half this process holds, whether it signs now or not. */
  held(keyId: string): PrivateSigningKey | undefined
  /** Every key of this purpose ever published, oldest first. */
  keys(): readonly KeyringRow[]
  /** About keys of every purpose. */
  statements(): readonly KeyStatement[]
  /** False when the key that should sign now is not in this process's key file. */
  complete(): boolean
  /** Called when what is published about the keys has changed. */
  onChange(listener: () => void): void
  refresh(): Promise<void>
  close(): Promise<void>
}

export type KeyringOptions = {
  database: Database
  clock: Clock
  rng: Rng
  log: Log
  /** What the keys are for; answers, unless it says otherwise. */
  purpose?: KeyPurpose
  /** SIGNING_KEY_FILE, LOG_KEY_FILE or a signer. Without it (demo) private keys are shared through the database. */
  keyFile?: KeyPlace
  refreshMs?: number
}

type Snapshot = {
  rows: readonly KeyringRow[]
  statements: readonly KeyStatement[]
  held: readonly PrivateSigningKey[]
}

/** Loads the shared keyring, publishing a first key where there is none, and keeps following it. */
export async function createKeyring(options: KeyringOptions): Promise<Keyring> {
  const { database, clock, rng, log, refreshMs = 30_000, purpose = 'response' } = options
  const secrets = createPrivateKeyStore(database, options.keyFile)
  await storeFirstKey(database, secrets, { clock, rng, purpose })
  const state = followKeyring({ clock, log })
  // Reads overlap: the poll, a notification, a caller. One that began earlier but ends later must not undo a revocation.
  let begun = 0
  let accepted = 0
  const refresh = async () => {
    begun += 1
    const read = begun
    const snapshot = await loadSnapshot(database, secrets, purpose)
    if (read < accepted) return
    accepted = read
    state.accept(snapshot)
  }
  await refresh()

  const refreshQuietly = () =>
    refresh().catch((error: unknown) => log.warn({ error: String(error) }, 'the keyring could not be read again'))
  const stopListening = await database.listen(keyringChannel, refreshQuietly)
  const stopped = new AbortController()
  const polling = (async () => {
    while (!stopped.signal.aborted) {
      await clock.sleep(refreshMs, stopped.signal).catch(() => {})
      if (!stopped.signal.aborted) await refreshQuietly()
    }
  })()

  return {
    purpose,
    ...state.view,
    refresh,
    close: async () => {
      stopped.abort(new Error('keyring closed'))
      await stopListening()
      await polling
    },
  }
}

async function loadSnapshot(database: Database, secrets: PrivateKeyStore, purpose: KeyPurpose): Promise<Snapshot> {
  const { rows, statements } = await readKeyring(database, purpose)
  return { rows, statements, held: await secrets.load() }
}

/** A keyring of one given key, for tools and tests that have no database. */
export function createFixedKeyring(
  key: PrivateSigningKey,
  activatesAtMs: number,
  purpose: KeyPurpose = 'response',
): Keyring {
  const row: KeyringRow = {
    keyId: key.keyId,
    x: key.x,
    createdAtMs: activatesAtMs,
    activatesAtMs,
    retiresAtMs: undefined,
    revokedAtMs: undefined,
  }
  return {
    purpose,
    active: () => key,
    signers: () => [key],
    held: (keyId) => (keyId === key.keyId ? key : undefined),
    keys: () => [row],
    statements: () => [],
    complete: () => true,
    onChange: () => {},
    refresh: async () => {},
    close: async () => {},
  }
}

function followKeyring({ clock, log }: { clock: Clock; log: Log }) {
  let snapshot: Snapshot = { rows: [], statements: [], held: [] }
  let chosen: PrivateSigningKey | undefined
  let complete = false
  let chooseAgainAtMs = 0
  const listeners: (() => void)[] = []

  const choose = () => {
    const nowMs = clock.nowMs()
    const due = dueKeys(snapshot.rows, nowMs)
    const wanted = due.findLast((row) => row.retiresAtMs === undefined || row.retiresAtMs > nowMs)?.keyId
    const held = new Map(snapshot.held.map((key) => [key.keyId, key]))
    // An older key still beats no signature: verifiers then see an expired key, and `complete` says why.
    const fallback = due.map((row) => held.get(row.keyId)).findLast((key) => key !== undefined) ?? chosen
    const next = (wanted === undefined ? undefined : held.get(wanted)) ?? fallback
    complete = next !== undefined && next.keyId === wanted
    if (!complete) log.error({ key_id: wanted }, 'the signing key that is due is not in the key file of this process')
    chosen = next
    const later = snapshot.rows.map((row) => row.activatesAtMs).filter((atMs) => atMs > nowMs)
    chooseAgainAtMs = later.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...later)
  }

  const view = {
    active: () => {
      if (clock.nowMs() >= chooseAgainAtMs) choose()
      if (chosen === undefined) throw new Error('this process holds no signing key of the keyring')
      return chosen
    },
    signers: () => {
      const nowMs = clock.nowMs()
      return dueKeys(snapshot.rows, nowMs)
        .filter((row) => row.retiresAtMs === undefined || row.retiresAtMs > nowMs)
        .flatMap((row) => snapshot.held.find((key) => key.keyId === row.keyId) ?? [])
        .reverse()
    },
    held: (keyId: string) => snapshot.held.find((key) => key.keyId === keyId),
    keys: () => snapshot.rows,
    statements: () => snapshot.statements,
    complete: () => complete,
    onChange: (listener: () => void) => {
      listeners.push(listener)
    },
  }
  const accept = (next: Snapshot) => {
    const changed =
      JSON.stringify([snapshot.rows, snapshot.statements]) !== JSON.stringify([next.rows, next.statements])
    snapshot = next
    choose()
    if (changed) for (const listener of listeners) listener()
    if (chosen === undefined) throw new Error('the key file holds none of the keys this node has published')
  }
  return { view, accept }
}

function dueKeys(rows: readonly KeyringRow[], nowMs: number): KeyringRow[] {
  return rows
    .filter((row) => row.revokedAtMs === undefined && row.activatesAtMs <= nowMs)
    .sort((a, b) => a.activatesAtMs - b.activatesAtMs)
}
