import { afterEach, expect } from 'vitest'
import { channelBuyer, channelOf, channelTerms } from './channel-client.ts'
import { cheapPath, createCheapShop, cheapPrice as price } from './cheap-shop.ts'
import { createJobsByHand } from './jobs-by-hand.ts'
import type { FixtureOptions } from './till-fixture.ts'
import { quote } from './till-fixture.ts'
import { useTill } from './use-till.ts'

type Payer = { address: string }
export type ChannelRow = Record<
  'charged' | 'sequence' | 'claimed' | 'posted' | 'lost' | 'balance' | 'signed',
  bigint
> & { signature: `0x${string}`; state: string }

/** A till that sells over channels, with jobs run by hand; one channel owes little before it is full. */
export function useChannels(channels: FixtureOptions['channels'] = { unclaimedPerChannelMicro: 6n * price }) {
  const shop = createCheapShop()
  const jobs = createJobsByHand()
  const till = useTill({
    ...{ ownShops: 'till', shops: [shop.open], intercept: { job: jobs.intercept } },
    // A deposit is soon known to be over.
    channels: { refundEverySeconds: 0, ...channels },
  })
  afterEach(async () => {
    shop.whilePreparing = undefined
    await till.base.control.releaseMining()
  })
  const channelRow = async ({ address }: Payer): Promise<ChannelRow> => {
    const { rows } = await till.db.owner.query<ChannelRow>(
      `select charged_micro as charged, sequence, claimed_micro as claimed, posted_micro as posted, lost_micro as lost,
         balance_micro as balance, signed_micro as signed, '0x' || encode(signature, 'hex') as signature, state
       from channel where payer = $1`,
      [address.toLowerCase()],
    )
    return rows[0] as ChannelRow
  }
  const url = (query = '', origin = till.node.url) => `${origin}${cheapPath}${query}`
  return {
    ...{ shop, jobs, till, url, channelRow },
    /** The row of a payer's channel, polled while recovery runs. */
    afterRecovery: (account: Payer) =>
      expect.poll(
        async () => {
          await jobs.run(['channels.recover'])
          return channelRow(account)
        },
        { timeout: 10_000 },
      ),
    /** A buyer with a channel that one call was paid from. */
    opened: async () => {
      const account = await till.newBuyer()
      const buyer = channelBuyer(till.base, account)
      expect((await buyer.fetch(url())).status).toBe(200)
      const required = await quote(url())
      return { account, buyer, required, ...channelOf(account, channelTerms(required)) }
    },
  }
}
