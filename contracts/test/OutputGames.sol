// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// What a layer 1 keeps of an OP-stack layer 2, at the slots of the published layouts: a claim about an output.
contract OutputGame {
    uint64 public createdAt;
    uint64 public resolvedAt;
    // 0 in progress, 1 the challenger wins, 2 the defender wins
    uint8 public status;
    bool private initialized;
    bool public wasRespectedGameTypeWhenCreated;

    bytes32 public immutable rootClaim;
    bytes public extraData;

    constructor(bytes32 claim, bytes memory extra, bool respected) {
        (rootClaim, extraData, createdAt, initialized) = (claim, extra, uint64(block.timestamp), true);
        wasRespectedGameTypeWhenCreated = respected;
    }

    function resolve(uint8 outcome) external {
        (status, resolvedAt) = (outcome, uint64(block.timestamp));
    }
}

/// The factory of such claims. The first slots belong to what the original inherits.
contract OutputGames {
    uint256[101] private inherited;
    mapping(uint32 gameType => address implementation) private gameImpls;
    mapping(uint32 gameType => uint256 bond) private initBonds;
    mapping(bytes32 uuid => bytes32 id) private disputeGames;
    bytes32[] private disputeGameList;

    event DisputeGameCreated(address indexed disputeProxy, uint32 indexed gameType, bytes32 indexed rootClaim);

    function gameCount() external view returns (uint256) {
        return disputeGameList.length;
    }

    function gameAtIndex(uint256 index) external view returns (uint32, uint64, address) {
        uint256 id = uint256(disputeGameList[index]);
        return (uint32(id >> 224), uint64(id >> 160), address(uint160(id)));
    }

    function create(uint32 gameType, bytes32 claim, bytes calldata extra, bool respected) external {
        OutputGame game = new OutputGame(claim, extra, respected);
        bytes32 uuid = keccak256(abi.encode(gameType, claim, extra));
        require(disputeGames[uuid] == 0, "it exists");
        uint256 packed = (uint256(gameType) << 224) | (block.timestamp << 160) | uint160(address(game));
        disputeGames[uuid] = bytes32(packed);
        disputeGameList.push(bytes32(packed));
        emit DisputeGameCreated(address(game), gameType, claim);
    }
}
