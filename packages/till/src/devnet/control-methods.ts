import type { Hex } from '@assay/protocol/bytes'
import type { DevnetControl } from './control.ts'
import { wholeNumber } from './whole-number.ts'

/** The test controls for tests that live in another process than the chain. */
export function controlMethods(
  control: DevnetControl,
): Record<string, (params: readonly unknown[]) => Promise<unknown>> {
  return {
    devnet_reorg: async ([depth, options]) => control.reorg(wholeNumber(depth), options ?? {}),
    devnet_holdMining: () => control.holdMining(),
    devnet_releaseMining: () => control.releaseMining(),
    devnet_mine: async ([count = 1]) => control.mine(wholeNumber(count)),
    devnet_dropTransaction: ([hash]) => control.dropTransaction(hash as Hex),
    devnet_setFinalityLag: async ([blocks]) => control.setFinalityLag(wholeNumber(blocks)),
    devnet_advanceTime: async ([by]) => control.advanceTime(wholeNumber(by)),
    devnet_failNext: async ([method, fault]) => control.failNext(String(method), fault ?? {}),
    devnet_setLatency: async ([ms, method]) =>
      control.setLatency(wholeNumber(ms), method === undefined ? undefined : String(method)),
    devnet_clearFaults: async () => control.clearFaults(),
    devnet_fund: ([address, amounts]) => control.fund(address as Hex, amounts ?? {}),
  }
}
