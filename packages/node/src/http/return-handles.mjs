// Returns each handle it receives, as its own descriptor; see acceptors.ts. Ends when nobody listens any more.
process.on('message', (message, handle) => process.send(message, handle))
