import fc from 'fast-check'
import { expect, test } from 'vitest'
import { didInPath, parseDid, pkhDid, walletDid } from './parse-did.ts'

const address = fc
  .array(fc.constantFrom(...'0123456789abcdefABCDEF'), { minLength: 40, maxLength: 40 })
  .map((digits) => `0x${digits.join('')}` as const)
const chainId = fc.integer({ min: 1, max: 2 ** 40 })
const method = fc.stringMatching(/^[a-z0-9]{1,20}$/).filter((name) => name !== 'pkh' && name !== 'web')

const anyText = fc.oneof(
  fc.string({ maxLength: 120 }),
  fc.uint8Array({ maxLength: 120 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
)

test('every text gives an outcome', () => {
  fc.assert(
    fc.property(anyText, method, (text, own) => {
      expect(['ok', 'invalid', 'method_not_supported']).toContain(parseDid(text, own).status)
    }),
  )
})

test('texts that begin like a DID give an outcome, and what is accepted names nothing but letters of a DID', () => {
  const start = fc.constantFrom('did:x402:', 'did:pkh:eip155:', 'did:web:', 'did:')
  fc.assert(
    fc.property(start, fc.string({ maxLength: 80 }), (prefix, rest) => {
      const parsed = parseDid(`${prefix}${rest}`, 'x402')
      if (parsed.status === 'ok') expect(parsed.did).toMatch(/^did:[a-z0-9]+:[A-Za-z0-9._:%-]+$/)
    }),
  )
})

test('every wallet survives the way into a DID and back', () => {
  fc.assert(
    fc.property(address, method, chainId, (wallet, own, chain) => {
      const lower = wallet.toLowerCase() as `0x${string}`
      const byMethod = parseDid(`did:${own}:${wallet}`, own)
      expect(byMethod).toMatchObject({
        status: 'ok',
        canonical: walletDid(own, lower),
        subject: { kind: 'wallet', address: lower },
      })
      const byAccount = parseDid(`did:pkh:eip155:${chain}:${wallet}`, own)
      expect(byAccount).toMatchObject({ status: 'ok', canonical: pkhDid({ chainId: chain, address: lower }) })
    }),
  )
})

test('the canonical form of a DID is its own canonical form', () => {
  fc.assert(
    fc.property(address, chainId, (wallet, chain) => {
      for (const text of [`did:x402:${wallet}`, `did:pkh:eip155:${chain}:${wallet}`, 'did:web:EXAMPLE.org%3a80:A']) {
        const once = parseDid(text, 'x402')
        if (once.status !== 'ok') throw new Error(text)
        expect(parseDid(once.canonical, 'x402')).toMatchObject({ status: 'ok', canonical: once.canonical })
      }
    }),
  )
})

test('a DID is the same in the path whether it was escaped or not', () => {
  fc.assert(
    fc.property(address, fc.constantFrom('did:x402:', 'did:pkh:eip155:1:'), (wallet, prefix) => {
      const did = `${prefix}${wallet}`
      expect(didInPath(`/1.0/identifiers/${did}`, '/1.0/identifiers/')).toBe(did)
      expect(didInPath(`/1.0/identifiers/${encodeURIComponent(did)}`, '/1.0/identifiers/')).toBe(did)
    }),
  )
})
