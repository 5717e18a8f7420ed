// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// An identity registry with the interface of ERC-8004, as far as wallets go: agents are ERC-721 tokens, the wallet that
/// speaks for one proves itself by EIP-712, and a transfer clears it.
contract AgentRegistry {
    bytes32 private constant WALLET_TYPE =
        keccak256("AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)");

    mapping(uint256 agentId => address) private owners;
    mapping(uint256 agentId => address) private wallets;
    mapping(uint256 agentId => string) private uris;
    uint256 private nextId;

    event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);

    error ERC721NonexistentToken(uint256 tokenId);
    error NotOwner();
    error WrongSignature();

    function register(string calldata agentURI) external returns (uint256 agentId) {
        agentId = nextId++;
        owners[agentId] = msg.sender;
        wallets[agentId] = msg.sender;
        uris[agentId] = agentURI;
        emit Transfer(address(0), msg.sender, agentId);
        emit Registered(agentId, agentURI, msg.sender);
    }

    function ownerOf(uint256 tokenId) public view returns (address owner) {
        owner = owners[tokenId];
        if (owner == address(0)) revert ERC721NonexistentToken(tokenId);
    }

    function tokenURI(uint256 tokenId) external view returns (string memory) {
        ownerOf(tokenId);
        return uris[tokenId];
    }

    function getAgentWallet(uint256 agentId) external view returns (address) {
        ownerOf(agentId);
        return wallets[agentId];
    }

    function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes calldata signature) external {
        address owner = ownerOf(agentId);
        if (msg.sender != owner) revert NotOwner();
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("ERC8004IdentityRegistry"),
                keccak256("1"),
                block.chainid,
                address(this)
            )
        );
        bytes32 statement = keccak256(abi.encode(WALLET_TYPE, agentId, newWallet, owner, deadline));
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", domain, statement));
        if (block.timestamp > deadline || recover(digest, signature) != newWallet) revert WrongSignature();
        wallets[agentId] = newWallet;
    }

    function transferFrom(address from, address to, uint256 tokenId) external {
        if (ownerOf(tokenId) != from || msg.sender != from) revert NotOwner();
        owners[tokenId] = to;
        delete wallets[tokenId];
        emit Transfer(from, to, tokenId);
    }

    function recover(bytes32 digest, bytes calldata signature) private pure returns (address signer) {
        if (signature.length != 65) revert WrongSignature();
        signer = ecrecover(digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
        if (signer == address(0)) revert WrongSignature();
    }
}
