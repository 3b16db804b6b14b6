"""A model of transformers and its tokenizer from a GGUF file of a Llama: SmolLM2 and its like."""
import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

NAMES = {  # in the file: in transformers, within a layer
    "attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
OUTSIDE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
CONTROL = 3  # tokens of this type stand for no text


def config(metadata):
    def of(key):
        return metadata["llama." + key]
    return transformers.LlamaConfig(
        hidden_size=of("embedding_length"), intermediate_size=of("feed_forward_length"), num_hidden_layers=of("block_count"),
        num_attention_heads=of("attention.head_count"), num_key_value_heads=of("attention.head_count_kv"),
        vocab_size=len(metadata["tokenizer.ggml.tokens"]), rms_norm_eps=of("attention.layer_norm_rms_epsilon"),
        max_position_embeddings=of("context_length"), rope_parameters={"rope_type": "default", "rope_theta": of("rope.freq_base")},
        tie_word_embeddings=True, bos_token_id=metadata["tokenizer.ggml.bos_token_id"],
        eos_token_id=metadata["tokenizer.ggml.eos_token_id"], attn_implementation="sdpa")


def _halves(weight, heads):
    """The file holds the rows of a head in pairs that are rotated together, transformers the first and the second of them apart."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def _weight(name, array, settings):
    heads = {"attn_q": settings.num_attention_heads, "attn_k": settings.num_key_value_heads}.get(name)
    return torch.from_numpy((_halves(array, heads) if heads else array).copy())


def model(metadata, tensors):
    """In f32, as the file's numbers say."""
    settings, state = config(metadata), {}
    for name, array in tensors.items():
        parts = name.split(".")
        if parts[0] == "blk":
            state["model.layers.%s.%s.weight" % (parts[1], NAMES[parts[2]])] = _weight(parts[2], array, settings)
        else:
            state[OUTSIDE[parts[0]] + ".weight"] = _weight(parts[0], array, settings)
    state.setdefault("lm_head.weight", state["model.embed_tokens.weight"])
    made = transformers.LlamaForCausalLM(settings).float().eval()
    made.load_state_dict(state)
    return made


def tokenizer(metadata):
    tokens = metadata["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in metadata["tokenizer.ggml.merges"]]
    made = Tokenizer(models.BPE({token: k for k, token in enumerate(tokens)}, merges))
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    made.decoder = decoders.ByteLevel()
    types = metadata["tokenizer.ggml.token_type"]
    made.add_special_tokens([AddedToken(token, special=True) for token, kind in zip(tokens, types) if kind == CONTROL])
    return made
