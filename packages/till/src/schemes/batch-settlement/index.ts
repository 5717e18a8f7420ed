export { type ChannelPolicy, defaultChannelPolicy } from './channel-deps.ts'
export { usedNetworks } from './channel-store.ts'
export { createChannels } from './create-channels.ts'
