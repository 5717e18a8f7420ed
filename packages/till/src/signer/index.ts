export { type SignerConnection, signerExchange } from './https-adapter.ts'
export { openRemoteSigner } from './remote-signer.ts'
export { serveSigner } from './serve-signer-adapter.ts'
