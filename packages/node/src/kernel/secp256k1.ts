import { createRequire } from 'node:module'
import * as wasm from 'tiny-secp256k1'
import type { Address } from './address.ts'
import { keccak256 } from './keccak.ts'

/** Gives the 65-byte public key, undefined or an exception for what is no signature. Never checks s or v. */
type Recover = (digest: Uint8Array, rs: Uint8Array, recoveryId: 0 | 1) => Uint8Array | null | undefined

export type RecoverableSignature = { signature: Uint8Array; recoveryId: number }
/** Both of them by RFC 6979: the same digest and key give the same signature in either. */
type Sign = (digest: Uint8Array, secret: Uint8Array) => RecoverableSignature

type NativeCurve = {
  ecdsaSign(digest: Uint8Array, secret: Uint8Array): { signature: Uint8Array; recid: number }
  ecdsaRecover(signature: Uint8Array, recoveryId: number, digest: Uint8Array, compressed: boolean): Uint8Array
}

/** Half the group order: a larger s is the same signature written a second way, and USDC refuses it too. */
const halfOrder = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex')

const recoverInWasm: Recover = (digest, rs, recoveryId) => wasm.recover(digest, rs, recoveryId, false)

const signInWasm: Sign = (digest, secret) => wasm.signRecoverable(digest, secret)

type Curve = { recover: Recover; sign: Sign }

function loadNative(): Curve | undefined {
  try {
    // The bindings file, not the package's main one: that one falls back to slow JavaScript in silence.
    const curve = createRequire(import.meta.url)('secp256k1/bindings.js') as NativeCurve
    return {
      recover: (digest, rs, recoveryId) => curve.ecdsaRecover(rs, recoveryId, digest, false),
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
  const inWasm = { name: 'wasm' as const, recover: recoverInWasm, sign: signInWasm }
  const native = loadNative()
  if (native === undefined) return inWasm
  try {
    const expected = Buffer.from(recoverInWasm(sampleDigest, sample.signature, sample.recoveryId as 0 | 1) ?? [])
    const got = native.recover(sampleDigest, sample.signature, sample.recoveryId as 0 | 1)
    const signed = native.sign(sampleDigest, Buffer.alloc(32, 1))
    const agrees =
      got != null &&
      expected.equals(got) &&
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

/** The signer of a 65-byte r‖s‖v signature, or undefined for anything USDC itself would not accept. */
export function recoverAddress(
  digest: Uint8Array,
  signature: Uint8Array,
  options: RecoverOptions = {},
): Address | undefined {
  if (digest.byteLength !== 32 || signature.byteLength !== 65) return undefined
  const recoveryId = recoveryIdOf(signature[64], options.allowZeroOne === true)
  if (recoveryId === undefined) return undefined
  const rs = signature.subarray(0, 64)
  if (halfOrder.compare(rs, 32, 64) < 0) return undefined
  try {
    const publicKey = backend.recover(digest, rs, recoveryId)
    if (!publicKey) return undefined
    return `0x${keccak256(publicKey.subarray(1)).toString('hex', 12)}`
  } catch {
    return undefined
  }
}
