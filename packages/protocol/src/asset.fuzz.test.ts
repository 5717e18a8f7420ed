import fc from 'fast-check'
import { expect, test } from 'vitest'
import { erc20Asset, formatAssetId, parseAssetId } from './asset.ts'

const textOf = (alphabet: string, maxLength: number, minLength = 1) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength })
const letters = 'abcdefghijklmnopqrstuvwxyz'
const namespace = textOf(`${letters}0123456789-`, 8, 3)
const network = fc
  .tuple(namespace, textOf(`${letters}${letters.toUpperCase()}0123456789-_`, 32))
  .map(([space, reference]) => `${space}:${reference}`)
const reference = textOf(`${letters}${letters.toUpperCase()}0123456789-.%`, 128)
const address = textOf('0123456789abcdef', 40, 40).map((digits) => `0x${digits}` as const)

test('what is written as an asset is read as the same parts', () => {
  fc.assert(
    fc.property(network, namespace, reference, (chain, space, text) => {
      fc.pre(space !== 'erc20')
      const parts = { network: chain, namespace: space, reference: text }
      expect(parseAssetId(formatAssetId(parts))).toEqual(parts)
    }),
  )
})

test('one ERC-20 has one name, however its address is written', () => {
  fc.assert(
    fc.property(network, address, (chain, token) => {
      const parts = parseAssetId(`${chain}/erc20:0x${token.slice(2).toUpperCase()}`)
      expect(parts && formatAssetId(parts)).toBe(erc20Asset(chain, token))
    }),
  )
})

test('any text is an asset or is not, and what is one has the form of CAIP-19', () => {
  const form = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}\/[-a-z0-9]{3,8}:[-.%a-zA-Z0-9]{1,128}$/
  const near = fc.tuple(network, fc.string(), fc.string()).map(([chain, space, text]) => `${chain}/${space}:${text}`)
  fc.assert(
    fc.property(fc.oneof(fc.string(), near), (text) => {
      const parts = parseAssetId(text)
      if (parts) expect(formatAssetId(parts)).toMatch(form)
    }),
  )
})

test('an ERC-20 without an address, a second part and other types are no assets', () => {
  for (const text of ['eip155:1/erc20:usdc', 'eip155:1/erc721:0x1/2', 'eip155:1', '', 7, undefined, null])
    expect(parseAssetId(text)).toBeUndefined()
})
