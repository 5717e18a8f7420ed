export { type ChannelPolicy, defaultChannelPolicy, VoucherRefused } from './channel-deps.ts'
export { usedNetworks } from './channel-store.ts'
export { type Channels, createChannels } from './create-channels.ts'
export type { ReplayedSale } from './replay-sale.ts'
