import { afterEach, expect } from 'vitest'
import { channelBuyer, channelOf, channelTerms } from './channel-client.ts'
import { cheapPath, createCheapShop, cheapPrice as price } from './cheap-shop.ts'
import { createJobsByHand } from './jobs-by-hand.ts'
import type { FixtureOptions } from './till-fixture.ts'
import { quote } from './till-fixture.ts'
import { useTill } from './use-till.ts'

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
  const url = (query = '', origin = till.node.url) => `${origin}${cheapPath}${query}`
  return {
    ...{ shop, jobs, till, url },
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
