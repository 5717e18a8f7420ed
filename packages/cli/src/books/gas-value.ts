import { parseUsd } from '@assay/sdk'
import { usageError } from '../exit-codes.ts'

export type CoinPrices = ReadonlyMap<string, bigint>

/** From `eip155:8453=3000,eip155:137=0.40`: micro-USD of one coin of each chain. */
export function parseCoinPrices(text: string | undefined): CoinPrices {
  const pairs = (text ?? '').split(',').filter((pair) => pair !== '')
  return new Map(
    pairs.map((pair) => {
      const [, network, usd] = /^\s*(eip155:\d+)=(\S+)\s*$/.exec(pair) ?? []
      const micro = usd === undefined ? undefined : parseUsd(usd)
      if (network === undefined || micro === undefined)
        throw usageError(`--coin-usd: not a chain and a price: ${pair}`, 'Such as eip155:8453=3000,eip155:137=0.40.')
      return [network, micro]
    }),
  )
}

const gweiPerCoin = 1_000_000_000n

/** What gas cost in micro-USD, rounded up; undefined where no price was given. */
export function gasMicro(prices: CoinPrices, network: string, gwei: bigint): bigint | undefined {
  const price = prices.get(network)
  return price === undefined ? undefined : (gwei * price + gweiPerCoin - 1n) / gweiPerCoin
}
