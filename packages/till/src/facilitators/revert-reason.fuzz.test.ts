import { anyText } from '@assay/protocol/any-text.fixture'
import { toHex } from '@assay/protocol/bytes'
import fc from 'fast-check'
import { encodeErrorResult, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { explainRevert, revertText } from './revert-reason.ts'

const abi = parseAbi(['error Error(string)'])
const revert = (words: string) => encodeErrorResult({ abi, errorName: 'Error', args: [words] })

describe('the reason of a revert', () => {
  it.each([
    ['FiatTokenV2: authorization is used or canceled', 'invalid_exact_evm_nonce_already_used'],
    ['FiatTokenV2: authorization is expired', 'invalid_exact_evm_payload_authorization_valid_before'],
    ['FiatTokenV2: authorization is not yet valid', 'invalid_exact_evm_payload_authorization_valid_after'],
    ['ERC20: transfer amount exceeds balance', 'insufficient_funds'],
    ['Blacklistable: account is blacklisted', 'account_blacklisted'],
    ['Pausable: paused', 'asset_paused'],
    ['FiatTokenV2: invalid signature', 'invalid_exact_evm_payload_signature'],
    ['ECRecover: invalid signature', 'invalid_exact_evm_payload_signature'],
    ['something new', 'invalid_exact_evm_transaction_simulation_failed'],
  ])('%s', (words, reason) => {
    expect(explainRevert(revert(words)).reason).toBe(reason)
  })

  it('reads back any text, and takes any bytes without breaking', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 300 }), (words) => {
        expect(revertText(revert(words))).toBe(words)
      }),
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, marked) => {
        const data = marked ? (`0x08c379a0${toHex(bytes).slice(2)}` as const) : toHex(bytes)
        expect(explainRevert(data).message).toMatch(/^[\x20-\x7e’]{1,200}$/)
      }),
    )
  })
})
