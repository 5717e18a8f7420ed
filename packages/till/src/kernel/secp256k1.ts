import { createRequire } from 'node:module'
import type { Address } from '@assay/protocol/address'
import * as wasm from 'tiny-secp256k1'
import { keccak256 } from './keccak.ts'

/** Returns the 65-byte public key, undefined or an exception for what is no signature. Never checks s or v. */
type Recover = (digest: Uint8Array, rs: Uint8Array, recoveryId: 0 | 1) => Uint8Array | null | undefined

/** Whether r‖s over the digest was made with the key of this public one; s must be low. */
type Verify = (digest: Uint8Array, rs: Uint8Array, publicKey: Uint8Array) => boolean

export type RecoverableSignature = { signature: Uint8Array; recoveryId: number }
/** Both of them by RFC 6979: the same digest and key give the same signature in either. */
type Sign = (digest: Uint8Array, secret: Uint8Array) => RecoverableSignature

type NativeCurve = {
  ecdsaSign(digest: Uint8Array, secret: Uint8Array): { signature: Uint8Array; recid: number }
  ecdsaRecover(signature: Uint8Array, recoveryId: number, digest: Uint8Array, compressed: boolean): Uint8Array
  ecdsaVerify(signature: Uint8Array, digest: Uint8Array, publicKey: Uint8Array): boolean
}

/** Half the group order: a larger s is the same signature written a second way, and USDC refuses it too. */
const halfOrder = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex')

const recoverInWasm: Recover = (digest, rs, recoveryId) => wasm.recover(digest, rs, recoveryId, false)

const verifyInWasm: Verify = (digest, rs, publicKey) => wasm.verify(digest, publicKey, rs, true)

const signInWasm: Sign = (digest, secret) => wasm.signRecoverable(digest, secret)

type Curve = { recover: Recover; verify: Verify; sign: Sign }

function loadNative(): Curve | undefined {
  try {
    // The bindings file, not the package's main one: that one falls back to slow JavaScript in silence.
    const curve = createRequire(import.meta.url)('secp256k1/bindings.js') as NativeCurve
    return {
      recover: (digest, rs, recoveryId) => curve.ecdsaRecover(rs, recoveryId, digest, false),
      verify: (digest, rs, publicKey) => curve.ecdsaVerify(rs, digest, publicKey),
      sign: (digest, secret) => {
        const { signature, recid } = curve.ecdsaSign(digest, secret)
        return { signature, recoveryId: recid }
      },
    }
  } catch {
    return undefined
  }
}

const sampleDigest = Buffer.alloc(32, 7)
const sample = wasm.signRecoverable(sampleDigest, Buffer.alloc(32, 1))

/** Fastest of a few runs, in ms, so that one pause of the machine does not decide. */
function timeRecover(recover: Recover): number {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 8; i += 1) {
    const start = performance.now()
    recover(sampleDigest, sample.signature, sample.recoveryId as 0 | 1)
    best = Math.min(best, performance.now() - start)
  }
  return best
}

function chooseBackend(): Curve & { name: 'native' | 'wasm' } {
  const inWasm = { name: 'wasm' as const, recover: recoverInWasm, verify: verifyInWasm, sign: signInWasm }
  const native = loadNative()
  if (native === undefined) return inWasm
  try {
    const expected = Buffer.from(recoverInWasm(sampleDigest, sample.signature, sample.recoveryId as 0 | 1) ?? [])
    const got = native.recover(sampleDigest, sample.signature, sample.recoveryId as 0 | 1)
    const signed = native.sign(sampleDigest, Buffer.alloc(32, 1))
    const agrees =
      got != null &&
      expected.equals(got) &&
      native.verify(sampleDigest, sample.signature, got) &&
      Buffer.from(signed.signature).equals(sample.signature) &&
      signed.recoveryId === sample.recoveryId
    if (agrees && timeRecover(native.recover) < timeRecover(recoverInWasm)) return { name: 'native', ...native }
  } catch {
    return inWasm
  }
  return inWasm
}

const backend = chooseBackend()

/** Which curve implementation this process uses, for the start summary and benches. */
export function cryptoBackend(): 'native' | 'wasm' {
  return backend.name
}

/** A deterministic signature with a low s, as wallets and contracts want it. */
export function signDigest(digest: Uint8Array, secret: Uint8Array): RecoverableSignature {
  return backend.sign(digest, secret)
}

function recoveryIdOf(v: number | undefined, allowZeroOne: boolean): 0 | 1 | undefined {
  if (v === 27 || (allowZeroOne && v === 0)) return 0
  if (v === 28 || (allowZeroOne && v === 1)) return 1
  return undefined
}

export type RecoverOptions = {
  /** Some wallets end a signature with 0 or 1; contracts such as USDC refuse that, so it is off unless asked for. */
  allowZeroOne?: boolean
}

/** r‖s and the recovery id of a 65-byte r‖s‖v signature, or undefined for anything USDC itself would not accept. */
function readSignature(signature: Uint8Array, options: RecoverOptions): { rs: Uint8Array; id: 0 | 1 } | undefined {
  if (signature.byteLength !== 65) return undefined
  const id = recoveryIdOf(signature[64], options.allowZeroOne === true)
  const rs = signature.subarray(0, 64)
  return id === undefined || halfOrder.compare(rs, 32, 64) < 0 ? undefined : { rs, id }
}

function recoverKey(digest: Uint8Array, signature: Uint8Array, options: RecoverOptions): Uint8Array | undefined {
  const read = digest.byteLength === 32 ? readSignature(signature, options) : undefined
  if (read === undefined) return undefined
  try {
    return backend.recover(digest, read.rs, read.id) ?? undefined
  } catch {
    return undefined
  }
}

const addressOf = (publicKey: Uint8Array): Address => `0x${keccak256(publicKey.subarray(1)).toString('hex', 12)}`

/** The signer of a 65-byte r‖s‖v signature, or undefined for anything USDC itself would not accept. */
export function recoverAddress(
  digest: Uint8Array,
  signature: Uint8Array,
  options: RecoverOptions = {},
): Address | undefined {
  const publicKey = recoverKey(digest, signature, options)
  return publicKey && addressOf(publicKey)
}

const knownKeysMax = 10_000
const knownKeys = new Map<Address, Uint8Array>()

/**
 * Whether the wallet signed this digest. Who comes again is known by its key: checking with a key costs a fifth less than
 * finding out which key it was. The last byte then only has to be one of those that are allowed.
 */
export function isSignedBy(
  address: Address,
  digest: Uint8Array,
  signature: Uint8Array,
  options: RecoverOptions = {},
): boolean {
  const known = knownKeys.get(address)
  if (known) return isSignedWith(known, digest, signature, options)
  const publicKey = recoverKey(digest, signature, options)
  if (publicKey === undefined || addressOf(publicKey) !== address) return false
  knownKeys.set(address, publicKey)
  if (knownKeys.size > knownKeysMax) knownKeys.delete(knownKeys.keys().next().value as Address)
  return true
}

function isSignedWith(key: Uint8Array, digest: Uint8Array, signature: Uint8Array, options: RecoverOptions): boolean {
  const read = digest.byteLength === 32 ? readSignature(signature, options) : undefined
  try {
    return read !== undefined && backend.verify(digest, read.rs, key)
  } catch {
    return false
  }
}
