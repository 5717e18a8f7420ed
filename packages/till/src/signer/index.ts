export { type SignerConnection, signerExchange } from './https-adapter.ts'
export { openRemoteSigner } from './remote-signer.ts'
export { openSigningKeys, type SigningKeysAtSigner } from './remote-signing-keys.ts'
export { serveSigner } from './serve-signer-adapter.ts'
