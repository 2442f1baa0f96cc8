//! Macros of the card: `#[hdl_gen]`, which keeps a kernel as data for `optireduce_hw::hdl::kernel`; `#[sections]`, which
//! lets a kernel be written as several functions; `#[derive(LogicStruct)]`, a struct as one word; and `#[derive(Ports)]`,
//! which lets a simulator other than rust-hdl's set and read the ports of a block.
//!
//! Why: `hdl_gen` and `LogicStruct` do what rust-hdl's macros of these names do, with a fraction of the code. `Ports`: rust-hdl
//! shows a block's signals to a visitor read-only, but a Verilated model has to write the outputs.
//! The ports are the fields of type `Signal<In, _>` or `Signal<Out, _>`, or arrays of them, in their order.
//! Limits: it recognises types by how they are written, so a type alias is not a port; `optireduce_hw::cosim` compares names and widths with
//! rust-hdl's list before it relies on them.

mod fields;
mod kernel;
mod sections;

use proc_macro::TokenStream;
use quote::quote;
use syn::parse::Nothing;
use syn::{
    Data, DeriveInput, Error, Fields, GenericArgument, ItemFn, ItemImpl, PathArguments, Type, parse_macro_input,
};

/// Replaces rust-hdl's attribute of this name: beside the kernel it writes `connect` and `hdl`.
///
/// Errors: code without an equivalent in Verilog, or that the card does not need, is refused at its place in the source.
#[proc_macro_attribute]
pub fn hdl_gen(_: TokenStream, item: TokenStream) -> TokenStream {
    let kernel = parse_macro_input!(item as ItemFn);
    kernel::expand(&kernel).into()
}

/// Lets a block write its kernel as several functions, its sections, which the kernel calls.
///
/// Every call is replaced by the statements of the section before `#[hdl_gen]` reads the kernel, so the Verilog is the
/// same as that of one long function. All functions of the `impl` but the kernel are sections.
///
/// ```text
/// #[sections]
/// impl Logic for Finisher {
///     #[hdl_gen]
///     fn update(&mut self) {
///         dff_setup!(self, clock, state);
///         self.find_room();
///         match self.state.q.val() {
///             FinishState::Idle => self.find_work(),
///             FinishState::Report => self.order_report(),
///         }
///     }
///
///     /// Finds which completion rings have room.
///     fn find_room(&mut self) {
///         self.room.d.next = self.has_room.val();
///     }
///     ...
/// }
/// ```
///
/// # Errors
/// Names the section that is missing, is not called or called twice, has no doc comment, or is not written
/// `fn name(&mut self)`.
#[proc_macro_attribute]
pub fn sections(arguments: TokenStream, item: TokenStream) -> TokenStream {
    parse_macro_input!(arguments as Nothing);
    let block = parse_macro_input!(item as ItemImpl);
    sections::expand(block).unwrap_or_else(Error::into_compile_error).into()
}

/// Replaces rust-hdl's derive of this name: a struct of signal types as one word, its first field in the low bits.
///
/// rust-hdl's goes by way of shifts of big integers in every width; that was a third of the card's code.
#[proc_macro_derive(LogicStruct)]
pub fn logic_struct(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    fields::expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `optireduce_hw::hdl::ports::Ports` for a block: every port is handed the rows in turn.
#[proc_macro_derive(Ports)]
pub fn ports(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let Data::Struct(syn::DataStruct { fields: Fields::Named(fields), .. }) = &input.data else {
        return Error::new_spanned(&input.ident, "Ports: expected a block, a struct with named fields")
            .into_compile_error()
            .into();
    };
    let ports = fields.named.iter().filter(|field| is_port(&field.ty)).map(|field| &field.ident);
    let name = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        impl #impl_generics optireduce_hw::hdl::ports::Ports for #name #type_generics #where_clause {
            fn exchange(&mut self, rows: &mut optireduce_hw::hdl::ports::Rows) {
                #(optireduce_hw::hdl::ports::Ports::exchange(&mut self.#ports, rows);)*
            }
        }
    }
    .into()
}

/// Whether a type is written `Signal<In, _>`, `Signal<Out, _>`, or an array of such.
fn is_port(ty: &Type) -> bool {
    match ty {
        Type::Array(array) => is_port(&array.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| {
            let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return false };
            let Some(GenericArgument::Type(Type::Path(direction))) = arguments.args.first() else { return false };
            segment.ident == "Signal" && (direction.path.is_ident("In") || direction.path.is_ident("Out"))
        }),
        _ => false,
    }
}
