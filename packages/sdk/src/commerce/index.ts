export {
  type AffiliateStatus,
  type Loyalty,
  type Pass,
  type RedeemOptions,
  type Redemption,
  readAffiliate,
  readLoyalty,
  redeemPoints,
} from './rewards.ts'
export {
  bearer,
  revokeSubscriptionToken,
  rotateSubscriptionToken,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionPurchase,
  subscribe,
  subscribeUrl,
} from './subscribe.ts'
