export { type ChannelPolicy, defaultChannelPolicy } from './channel-deps.ts'
export { usedNetworks } from './channel-store.ts'
export { type Channels, createChannels } from './create-channels.ts'
